// Rules ready to use: what a rule file says, compiled once, immutable from then on.
//
// Pure; thread-safe because nothing changes.
// Source: prometheus-adapter 0.12.0; the order of matchers, the quoting and every default are the
//         original's. ARCHITECTURE.md lists what differs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace flyball::rules {

struct GroupResource {
  std::string group;
  std::string resource;  // plural
  friend bool operator==(const GroupResource&, const GroupResource&) = default;
  friend auto operator<=>(const GroupResource&, const GroupResource&) = default;
};

// What rules must know of the cluster. The floor above adapts its REST mapping to it.
class ResourceNames {
 public:
  virtual ~ResourceNames() = default;
  // Plural name and exact group of a resource given by plural or singular and a group or its
  // prefix; nullopt: unknown.
  virtual std::optional<GroupResource> Normalize(absl::string_view group,
                                                 absl::string_view resource) const = 0;
  // Singular name of a normalised resource.
  virtual std::string Singular(const GroupResource& resource) const = 0;
};

// One requirement of a metric label selector, as the API's parser read it.
struct LabelRequirement {
  enum class Op {
    kIn,
    kNotIn,
    kEquals,
    kNotEquals,
    kExists,
    kDoesNotExist,
    kGreaterThan,
    kLessThan
  };
  std::string key;
  Op op = Op::kEquals;
  std::vector<std::string> values;  // sorted
};

// What a custom-metrics or resource-metrics query asks for.
struct ObjectQueryArgs {
  std::string series;
  GroupResource resource;
  std::optional<std::string> ns;   // absent: root-scoped path, or the namespace resource itself
  std::vector<std::string> names;  // one: `=`; several: `=~`, sorted and escaped
  std::vector<LabelRequirement> selector;  // sorted by key
};

class CompiledRule {
 public:
  virtual ~CompiledRule() = default;

  virtual const std::string& series_query() const = 0;
  // Index in its list in the file, and where it stands: "config.yaml:12".
  virtual int index() const = 0;
  virtual const std::string& where() const = 0;

  // seriesFilters and name.matches.
  virtual bool AcceptsSeries(absl::string_view series) const = 0;
  // The metric's name in the API; may be empty (registered, unreachable).
  virtual std::string ApiName(absl::string_view series) const = 0;

  // Label -> resource, as discovery does it. nullopt: an ordinary label. Nothing is cached here;
  // the caller may keep the result.
  virtual std::optional<GroupResource> ResourceOfLabel(absl::string_view label,
                                                       const ResourceNames& names) const = 0;
  // Resource -> label, as queries do it. kNotFound: the rule has no label for it.
  virtual absl::StatusOr<std::string> LabelOfResource(const GroupResource& resource,
                                                      const ResourceNames& names) const = 0;

  // PromQL for objects.
  //   kNotFound  the resource has no label, PromQL has no form for an operator (> and <), or the
  //              template fails on these values
  virtual absl::StatusOr<std::string> ObjectQuery(const ObjectQueryArgs& args,
                                                  const ResourceNames& names) const = 0;
  // PromQL for an external metric in a namespace; every failure is an error.
  virtual absl::StatusOr<std::string> ExternalQuery(absl::string_view series, absl::string_view ns,
                                                    const std::vector<LabelRequirement>& selector,
                                                    const ResourceNames& names) const = 0;

  // True if the template is seen to treat each object apart (one aggregation, by <<.GroupBy>>), so
  // that a query for several objects gives each of them the value its own query would have given.
  virtual bool QueriesSeparateObjects() const = 0;
  // True if the result of the same query without a namespace matcher would still tell namespaces
  // apart.
  virtual bool GroupsByNamespace() const = 0;
  // True if an external query for several values of `label` gives for each of them the samples that
  // its own query would have given, told apart by that label.
  virtual bool ExternalQueriesSeparate(absl::string_view /*label*/) const { return false; }
};

// cpu or memory of resourceRules.
class CompiledResourceRule {
 public:
  virtual ~CompiledResourceRule() = default;
  virtual const std::string& container_label() const = 0;
  virtual absl::StatusOr<std::string> LabelOfResource(const GroupResource& resource,
                                                      const ResourceNames& names) const = 0;
  // containerQuery for pods.
  virtual absl::StatusOr<std::string> ContainerQuery(absl::string_view ns,
                                                     const std::vector<std::string>& pods,
                                                     const ResourceNames& names) const = 0;
  // nodeQuery for nodes.
  virtual absl::StatusOr<std::string> NodeQuery(const std::vector<std::string>& nodes,
                                                const ResourceNames& names) const = 0;
  // True if the containerQuery with an empty `ns`, which then matches no namespace, would still
  // tell namespaces and pods apart.
  virtual bool ContainerQueryKeepsNamespaces() const { return false; }
  // True if the containerQuery is an instant vector, seen to tell pods apart.
  virtual bool ContainerQuerySeparatesPods() const { return false; }
};

struct CompiledResourceRules {
  std::shared_ptr<const CompiledResourceRule> cpu, memory;
  absl::Duration window;
};

// A resource that an override names, as written, and where.
struct ResourceReference {
  std::string label;
  std::string group, resource;
  std::string file;
  int line = 0, column = 0;
  std::string field;  // "rules[0].resources.overrides.pod"
};

struct CompiledRules {
  std::vector<std::shared_ptr<const CompiledRule>> custom;    // `rules`, file order
  std::vector<std::shared_ptr<const CompiledRule>> external;  // `externalRules`, file order
  std::optional<CompiledResourceRules> resource;              // `resourceRules`
  std::vector<ResourceReference> references;                  // of every override, file order
  std::string fingerprint;                                    // hash of the file's text, hex
};

// One finding about a rule file.
struct Finding {
  enum class Severity { kError, kWarning };
  Severity severity = Severity::kError;
  std::string file;
  int line = 0, column = 0;  // from 1; 0 when the file as a whole is meant
  std::string field;         // "rules[3].name.as"
  std::string message;       // what is wrong, what was expected
  // `file:line:column: field: message`, with "warning: " before the message of a warning.
  std::string ToString() const;
};

struct CompileResult {
  std::shared_ptr<const CompiledRules> rules;  // nullptr if there is any error
  std::vector<Finding> findings;               // in file order
};

// Compiles one rule file's text. `file` is only for messages.
CompileResult CompileRules(absl::string_view text, absl::string_view file);

// Overrides that name resources which `names` does not know: warnings (errors under --strict).
std::vector<Finding> CheckResources(const CompiledRules& rules, const ResourceNames& names);

}  // namespace flyball::rules
