// Compiled rules: the content of a rule file, compiled once and immutable from then on, except for
// marks of use.
//
// Pure; thread-safe.
// Source: prometheus-adapter 0.12.0; the order of matchers, the quoting and every default are the
//         original's. ARCHITECTURE.md lists what differs.
#pragma once

#include <atomic>
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
#include "rules/last_answer.h"
#include "rules/naming.h"
#include "rules/query_shape.h"
#include "rules/query_template.h"
#include "rules/resource_mapping.h"
#include "rules/source_choice.h"

namespace flyball::rules {

// The arguments of a custom-metrics or resource-metrics query.
struct ObjectQueryArgs {
  std::string series;
  kube::GroupResource resource;
  std::optional<std::string> ns;   // absent: root-scoped path, or the namespace resource itself
  std::vector<std::string> names;  // one: `=`; several: `=~`, sorted and escaped
  std::vector<kube::Requirement> selector;  // sorted by key
};

// The least count for each HorizontalPodAutoscaler that asks for a metric.
struct ReplicasInstead {
  enum class Count { kGiven, kMax, kMin };  // kMax, kMin: the autoscaler's own bound
  Count count = Count::kGiven;
  int32_t given = 0;

  friend bool operator==(const ReplicasInstead&, const ReplicasInstead&) = default;
};

// The answer to an external metric while its source fails.
struct OnFailure {
  absl::Duration keep_last;  // how long a kept answer is used; zero: not at all
  // What is answered after that; neither: the failure.
  std::optional<int64_t> value_milli;
  std::optional<ReplicasInstead> replicas;
};

// One entry of `rules` or `externalRules`.
struct CompiledRule {
  int index = 0;             // in its list in the file
  std::string where;         // "config.yaml:12"
  std::string series_query;  // selects the series that it is made of...
  SeriesNaming naming;       // ...which of them it accepts, and their names in the API
  ResourceMapping mapping;
  QueryTemplate query;
  QueryShape shape;        // of `query`
  bool namespaced = true;  // an external query contains the namespace
  SourceChoice source = SourceChoice::kAny;
  mutable LastAnswer last_answer = {};
  std::optional<OnFailure> on_failure = std::nullopt;  // of externalRules
  // With on_failure: the API name if seriesQuery names one series; "" otherwise.
  std::string sole_metric = "";
  // Whether it was ever queried: `flyball test rules` names the rules that no test uses.
  mutable std::atomic<bool> asked = false;

  // PromQL for objects.
  //   kNotFound  the resource has no label, PromQL has no form for an operator (> and <), or the
  //              template fails on these values
  absl::StatusOr<std::string> ObjectQuery(const ObjectQueryArgs& args,
                                          const kube::RestMapper& mapper) const;
  // PromQL for an external metric in a namespace; every failure is an error.
  absl::StatusOr<std::string> ExternalQuery(absl::string_view series, absl::string_view ns,
                                            const std::vector<kube::Requirement>& selector,
                                            const kube::RestMapper& mapper) const;
};

// cpu or memory of resourceRules.
struct CompiledResourceRule {
  std::string container_label;
  ResourceMapping mapping;
  QueryTemplate container_query, node_query;
  QueryShape container_shape;  // of `container_query`
  SourceChoice source = SourceChoice::kAny;
  mutable std::atomic<bool> asked = false;  // as in CompiledRule

  // containerQuery for pods. An empty `ns` matches no namespace.
  absl::StatusOr<std::string> ContainerQuery(absl::string_view ns,
                                             const std::vector<std::string>& pods,
                                             const kube::RestMapper& mapper) const;
  // nodeQuery for nodes.
  absl::StatusOr<std::string> NodeQuery(const std::vector<std::string>& nodes,
                                        const kube::RestMapper& mapper) const;
};

struct CompiledResourceRules {
  std::shared_ptr<const CompiledResourceRule> cpu, memory;
  absl::Duration window;
};

// A resource that an override names, as written, and its place.
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
// The rules in the values of a Helm chart: see ReadChartValues.
CompileResult CompileChartValues(absl::string_view text, absl::string_view file,
                                 const std::vector<std::string>& path);

// Overrides that name resources that `mapper` does not know: warnings (errors under --strict).
std::vector<Finding> CheckResources(const CompiledRules& rules, const kube::RestMapper& mapper);

}  // namespace flyball::rules
