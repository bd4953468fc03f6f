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
#include "kube/objects/rest_mapping.h"
#include "kube/objects/selector.h"
#include "rules/config.h"

namespace flyball::rules {

// What a custom-metrics or resource-metrics query asks for.
struct ObjectQueryArgs {
  std::string series;
  kube::GroupResource resource;
  std::optional<std::string> ns;   // absent: root-scoped path, or the namespace resource itself
  std::vector<std::string> names;  // one: `=`; several: `=~`, sorted and escaped
  std::vector<kube::Requirement> selector;  // sorted by key
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

  // Label -> resource, as discovery does it. nullptr: an ordinary label. Nothing is cached here;
  // the caller may keep the result.
  virtual const kube::ResourceInfo* ResourceOfLabel(absl::string_view label,
                                                    const kube::RestMapper& mapper) const = 0;
  // Resource -> label, as queries do it. kNotFound: the rule has no label for it.
  virtual absl::StatusOr<std::string> LabelOfResource(const kube::GroupResource& resource,
                                                      const kube::RestMapper& mapper) const = 0;

  // PromQL for objects.
  //   kNotFound  the resource has no label, PromQL has no form for an operator (> and <), or the
  //              template fails on these values
  virtual absl::StatusOr<std::string> ObjectQuery(const ObjectQueryArgs& args,
                                                  const kube::RestMapper& mapper) const = 0;
  // PromQL for an external metric in a namespace; every failure is an error.
  virtual absl::StatusOr<std::string> ExternalQuery(absl::string_view series, absl::string_view ns,
                                                    const std::vector<kube::Requirement>& selector,
                                                    const kube::RestMapper& mapper) const = 0;

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
  virtual absl::StatusOr<std::string> LabelOfResource(const kube::GroupResource& resource,
                                                      const kube::RestMapper& mapper) const = 0;
  // containerQuery for pods.
  virtual absl::StatusOr<std::string> ContainerQuery(absl::string_view ns,
                                                     const std::vector<std::string>& pods,
                                                     const kube::RestMapper& mapper) const = 0;
  // nodeQuery for nodes.
  virtual absl::StatusOr<std::string> NodeQuery(const std::vector<std::string>& nodes,
                                                const kube::RestMapper& mapper) const = 0;
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

struct CompileResult {
  std::shared_ptr<const CompiledRules> rules;  // nullptr if there is any error
  std::vector<Finding> findings;               // in file order
};

// Compiles one rule file's text. `file` is only for messages.
CompileResult CompileRules(absl::string_view text, absl::string_view file);

// Overrides that name resources which `mapper` does not know: warnings (errors under --strict).
std::vector<Finding> CheckResources(const CompiledRules& rules, const kube::RestMapper& mapper);

}  // namespace flyball::rules
