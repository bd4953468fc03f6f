// The last stage, from Config to CompiledRules. config_yaml.cc reads; naming.cc,
// resource_mapping.cc, query_template.cc and promql.cc compile the parts; lint.cc warns.
#include "rules/compiled_rules.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/go/text.h"
#include "base/stable_hash.h"
#include "base/status_macros.h"
#include "rules/lint.h"
#include "rules/on_failure.h"
#include "rules/promql.h"

namespace flyball::rules {
namespace {

const kube::GroupResource kNamespaces = {"", "namespaces"};
const kube::GroupResource kPods = {"", "pods"};
const kube::GroupResource kNodes = {"", "nodes"};

// The mark is written only once: every request reads its cache line, and a write at each query
// would take that line away from all other threads.
void MarkAsked(std::atomic<bool>& asked) {
  if (!asked.load(std::memory_order_relaxed)) asked.store(true, std::memory_order_relaxed);
}

// `field`: the rule's field that the template stands in.
absl::StatusOr<std::string> Fill(absl::string_view field, const QueryTemplate& query,
                                 absl::string_view series, const MatcherList& matchers,
                                 std::vector<std::string> group_by) {
  ASSIGN_OR_RETURN(std::string text,
                   query.Execute(QueryData{.series = std::string(series),
                                           .label_matchers = matchers.Join(),
                                           .label_values_by_name = matchers.values_by_name(),
                                           .group_by_slice = std::move(group_by)}));
  if (text.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the template ", field, " gives an empty query"));
  }
  return text;
}

absl::Status AddNamespace(absl::string_view ns, const ResourceMapping& mapping,
                          const kube::RestMapper& mapper, MatcherList& matchers) {
  ASSIGN_OR_RETURN(const std::string label, mapping.LabelOfResource(kNamespaces, mapper));
  if (label.empty()) return absl::InvalidArgumentError("the label of namespaces has no name");
  matchers.AddEqual(label, ns);
  return absl::OkStatus();
}

absl::Status AddSelector(const std::vector<kube::Requirement>& selector, MatcherList& matchers) {
  for (const kube::Requirement& requirement : selector) {
    RETURN_IF_ERROR(matchers.AddRequirement(requirement));
  }
  return absl::OkStatus();
}

// A query for objects: of a rule, or of resourceRules. It groups by the object's label and then by
// `container_label`, which may be nullptr.
absl::StatusOr<std::string> BuildObjectQuery(absl::string_view field, const QueryTemplate& query,
                                             const ResourceMapping& mapping,
                                             const ObjectQueryArgs& args,
                                             const kube::RestMapper& mapper,
                                             const std::string* container_label = nullptr) {
  MatcherList matchers;
  RETURN_IF_ERROR(AddSelector(args.selector, matchers));
  if (args.ns && !args.ns->empty()) {
    RETURN_IF_ERROR(AddNamespace(*args.ns, mapping, mapper, matchers));
  }
  ASSIGN_OR_RETURN(const std::string label, mapping.LabelOfResource(args.resource, mapper));
  matchers.AddNames(label, args.names);
  std::vector<std::string> group_by = {label};
  if (container_label != nullptr) group_by.push_back(*container_label);
  return Fill(field, query, args.series, matchers, std::move(group_by));
}

class Compiler {
 public:
  Compiler(absl::string_view file, Findings& findings) : file_(file), findings_(findings) {}

  std::shared_ptr<CompiledRules> Compile(const Config& config) {
    auto rules = std::make_shared<CompiledRules>();
    CompileList(config.rules, config.rules_field, /*external=*/false, rules->custom);
    CompileList(config.external_rules, config.external_field, /*external=*/true, rules->external);
    if (config.resource_rules) {
      const ResourceRulesConfig& resource = *config.resource_rules;
      rules->resource = CompiledResourceRules{
          .cpu = CompileResourceRule(resource.cpu, config.resource_field + ".cpu"),
          .memory = CompileResourceRule(resource.memory, config.resource_field + ".memory"),
          .window = resource.window};
    }
    rules->references = std::move(references_);
    return rules;
  }

 private:
  std::optional<QueryTemplate> CompileQuery(const TextField& field, const std::string& path) {
    auto query = QueryTemplate::ParseQuery(field.text);
    if (query.ok()) return *std::move(query);
    findings_.Error(field.place, path, absl::StrCat("bad template at ", query.status().message()));
    return std::nullopt;
  }

  SourceChoice CompileSource(const TextField& field, const std::string& path) {
    if (field.text == "live") return SourceChoice::kLive;
    if (field.text == "prometheus") return SourceChoice::kPrometheus;
    if (!field.text.empty()) {
      findings_.Error(field.place, path + ".source",
                      absl::StrCat("is ", go::Quote(field.text), ", expected live or prometheus"));
    }
    return SourceChoice::kAny;
  }

  std::optional<ResourceMapping> CompileMapping(const MappingConfig& config,
                                                const std::string& path) {
    for (const OverrideConfig& item : config.overrides) {
      references_.push_back({.label = item.label.text,
                             .group = item.group.text,
                             .resource = item.resource.text,
                             .file = file_,
                             .line = item.label.place.line,
                             .column = item.label.place.column,
                             .field = absl::StrCat(path, ".overrides.", item.label.text)});
    }
    return ResourceMapping::Compile(config, path, findings_);
  }

  void CompileList(const std::vector<RuleConfig>& configs, absl::string_view list, bool external,
                   std::vector<std::shared_ptr<const CompiledRule>>& out) {
    for (size_t i = 0; i < configs.size(); ++i) {
      const RuleConfig& config = configs[i];
      const std::string path = absl::StrCat(list, "[", i, "]");
      // All parts are tried, so that all errors are found.
      auto naming = SeriesNaming::Compile(config, path, findings_);
      auto mapping = CompileMapping(config.resources, path + ".resources");
      auto query = CompileQuery(config.metrics_query, path + ".metricsQuery");
      const SourceChoice source = CompileSource(config.source, path);
      const std::optional<OnFailure> on_failure =
          CompileOnFailure(config, external, path, findings_);
      if (!naming || !mapping || !query) continue;
      const std::string sole_metric = on_failure.has_value() ? SoleMetric(config, *naming) : "";
      const QueryShape shape = ShapeOf(*query, mapping->NamespaceLabel());
      out.emplace_back(new CompiledRule{.index = static_cast<int>(i),
                                        .where = absl::StrCat(file_, ":", config.place.line),
                                        .series_query = config.series_query.text,
                                        .naming = *std::move(naming),
                                        .mapping = *std::move(mapping),
                                        .query = *std::move(query),
                                        .shape = shape,
                                        .namespaced = config.resources.namespaced.value_or(true),
                                        .source = source,
                                        .on_failure = on_failure,
                                        .sole_metric = sole_metric});
    }
  }

  std::shared_ptr<const CompiledResourceRule> CompileResourceRule(const ResourceRuleConfig& config,
                                                                  const std::string& path) {
    auto mapping = CompileMapping(config.resources, path + ".resources");
    auto container = CompileQuery(config.container_query, path + ".containerQuery");
    auto node = CompileQuery(config.node_query, path + ".nodeQuery");
    const SourceChoice source = CompileSource(config.source, path);
    if (!mapping || !container || !node) return nullptr;
    const QueryShape shape = ShapeOf(*container, mapping->NamespaceLabel());
    return std::shared_ptr<const CompiledResourceRule>(
        new CompiledResourceRule{.container_label = config.container_label.text,
                                 .mapping = *std::move(mapping),
                                 .container_query = *std::move(container),
                                 .node_query = *std::move(node),
                                 .container_shape = shape,
                                 .source = source});
  }

  const std::string file_;
  Findings& findings_;
  std::vector<ResourceReference> references_;
};

}  // namespace

absl::StatusOr<std::string> CompiledRule::ObjectQuery(const ObjectQueryArgs& args,
                                                      const kube::RestMapper& mapper) const {
  MarkAsked(asked);
  auto text = BuildObjectQuery("metricsQuery", query, mapping, args, mapper);
  // For a caller all of these errors mean that the rule has no query for the request.
  if (!text.ok()) return absl::NotFoundError(absl::StrCat(where, ": ", text.status().message()));
  return text;
}

absl::StatusOr<std::string> CompiledRule::ExternalQuery(
    absl::string_view series, absl::string_view ns, const std::vector<kube::Requirement>& selector,
    const kube::RestMapper& mapper) const {
  MarkAsked(asked);
  MatcherList matchers;
  RETURN_IF_ERROR(AddSelector(selector, matchers));
  if (namespaced && !ns.empty()) RETURN_IF_ERROR(AddNamespace(ns, mapping, mapper, matchers));
  return Fill("metricsQuery", query, series, matchers, {});
}

absl::StatusOr<std::string> CompiledResourceRule::ContainerQuery(
    absl::string_view ns, const std::vector<std::string>& pods,
    const kube::RestMapper& mapper) const {
  MarkAsked(asked);
  // The container label is asked for even where it is not set, as in the original.
  return BuildObjectQuery(
      "containerQuery", container_query, mapping,
      {.series = "", .resource = kPods, .ns = std::string(ns), .names = pods, .selector = {}},
      mapper, &container_label);
}

absl::StatusOr<std::string> CompiledResourceRule::NodeQuery(const std::vector<std::string>& nodes,
                                                            const kube::RestMapper& mapper) const {
  MarkAsked(asked);
  return BuildObjectQuery(
      "nodeQuery", node_query, mapping,
      {.series = "", .resource = kNodes, .ns = std::nullopt, .names = nodes, .selector = {}},
      mapper);
}

namespace {

CompileResult CompileConfig(const Config& config, absl::string_view text, absl::string_view file,
                            Findings findings) {
  std::shared_ptr<CompiledRules> rules = Compiler(file, findings).Compile(config);
  rules->fingerprint = absl::StrFormat("%016x", StableHash(text));
  LintConfig(config, findings);
  CompileResult result;
  if (!findings.has_errors()) result.rules = std::move(rules);
  result.findings = std::move(findings).Take();
  return result;
}

}  // namespace

CompileResult CompileRules(absl::string_view text, absl::string_view file) {
  Findings findings(file);
  const Config config = ReadConfig(text, findings);
  return CompileConfig(config, text, file, std::move(findings));
}

CompileResult CompileChartValues(absl::string_view text, absl::string_view file,
                                 const std::vector<std::string>& path) {
  Findings findings(file);
  const Config config = ReadChartValues(text, path, findings);
  return CompileConfig(config, text, file, std::move(findings));
}

std::vector<Finding> CheckResources(const CompiledRules& rules, const kube::RestMapper& mapper) {
  std::vector<Finding> findings;
  for (const ResourceReference& reference : rules.references) {
    if (mapper.Find(reference.group, reference.resource) != nullptr) continue;
    const kube::GroupResource shown = {reference.group, reference.resource};
    findings.push_back({Finding::Severity::kWarning, reference.file, reference.line,
                        reference.column, reference.field,
                        absl::StrCat("the cluster has no resource ", shown.ToString(),
                                     ", expected the name of one that it serves")});
  }
  return findings;
}

}  // namespace flyball::rules
