// Config -> CompiledRules: the last stage. Reading is config_yaml.cc, the parts are naming.cc,
// resource_mapping.cc, query_template.cc and promql.cc, warnings lint.cc.
#include "rules/compiled_rules.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/stable_hash.h"
#include "base/status_macros.h"
#include "rules/config.h"
#include "rules/lint.h"
#include "rules/naming.h"
#include "rules/promql.h"
#include "rules/query_shape.h"
#include "rules/query_template.h"
#include "rules/resource_mapping.h"

namespace flyball::rules {
namespace {

const kube::GroupResource kNamespaces = {"", "namespaces"};
const kube::GroupResource kPods = {"", "pods"};
const kube::GroupResource kNodes = {"", "nodes"};

absl::StatusOr<std::string> Fill(const QueryTemplate& query, absl::string_view series,
                                 const MatcherList& matchers, std::vector<std::string> group_by) {
  ASSIGN_OR_RETURN(std::string text,
                   query.Execute(QueryData{.series = std::string(series),
                                           .label_matchers = matchers.Join(),
                                           .label_values_by_name = matchers.values_by_name(),
                                           .group_by_slice = std::move(group_by)}));
  if (text.empty()) return absl::InvalidArgumentError("the template gives an empty query");
  return text;
}

absl::Status AddNamespace(absl::string_view ns, const ResourceMapping& mapping,
                          const kube::RestMapper& mapper, MatcherList& matchers) {
  ASSIGN_OR_RETURN(const std::string label, mapping.LabelOfResource(kNamespaces, mapper));
  matchers.AddEqual(label, ns);
  return absl::OkStatus();
}

absl::Status AddSelector(const std::vector<kube::Requirement>& selector, MatcherList& matchers) {
  for (const kube::Requirement& requirement : selector) {
    RETURN_IF_ERROR(matchers.AddRequirement(requirement));
  }
  return absl::OkStatus();
}

// A query for objects: of a rule, or of resourceRules.
struct ObjectQueryParts {
  const QueryTemplate& query;
  const ResourceMapping& mapping;
  std::vector<std::string> more_group_by;  // after the object's label
};

absl::StatusOr<std::string> BuildObjectQuery(const ObjectQueryParts& parts,
                                             const ObjectQueryArgs& args,
                                             const kube::RestMapper& mapper) {
  MatcherList matchers;
  RETURN_IF_ERROR(AddSelector(args.selector, matchers));
  if (args.ns && !args.ns->empty()) {
    RETURN_IF_ERROR(AddNamespace(*args.ns, parts.mapping, mapper, matchers));
  }
  ASSIGN_OR_RETURN(const std::string label, parts.mapping.LabelOfResource(args.resource, mapper));
  matchers.AddNames(label, args.names);
  std::vector<std::string> group_by = {label};
  group_by.insert(group_by.end(), parts.more_group_by.begin(), parts.more_group_by.end());
  return Fill(parts.query, args.series, matchers, std::move(group_by));
}

// To a caller all of these mean that the rule has no query for what was asked.
absl::Status AsNotFound(const absl::Status& status, absl::string_view where) {
  return absl::NotFoundError(absl::StrCat(where, ": ", status.message()));
}

struct RuleParts {
  int index = 0;
  std::string where;
  std::string series_query;
  SeriesNaming naming;
  ResourceMapping mapping;
  QueryTemplate query;
  QueryShape shape;
  bool namespaced = true;
};

class Rule final : public CompiledRule {
 public:
  explicit Rule(RuleParts parts) : parts_(std::move(parts)) {}

  const std::string& series_query() const override { return parts_.series_query; }
  int index() const override { return parts_.index; }
  const std::string& where() const override { return parts_.where; }

  bool AcceptsSeries(absl::string_view series) const override {
    return parts_.naming.Accepts(series);
  }
  std::string ApiName(absl::string_view series) const override {
    return parts_.naming.ApiName(series);
  }
  const kube::ResourceInfo* ResourceOfLabel(absl::string_view label,
                                            const kube::RestMapper& mapper) const override {
    return parts_.mapping.ResourceOfLabel(label, mapper);
  }
  absl::StatusOr<std::string> LabelOfResource(const kube::GroupResource& resource,
                                              const kube::RestMapper& mapper) const override {
    return parts_.mapping.LabelOfResource(resource, mapper);
  }

  absl::StatusOr<std::string> ObjectQuery(const ObjectQueryArgs& args,
                                          const kube::RestMapper& mapper) const override {
    auto query = BuildObjectQuery({parts_.query, parts_.mapping, {}}, args, mapper);
    if (!query.ok()) return AsNotFound(query.status(), parts_.where);
    return query;
  }

  absl::StatusOr<std::string> ExternalQuery(absl::string_view series, absl::string_view ns,
                                            const std::vector<kube::Requirement>& selector,
                                            const kube::RestMapper& mapper) const override {
    MatcherList matchers;
    RETURN_IF_ERROR(AddSelector(selector, matchers));
    if (parts_.namespaced && !ns.empty()) {
      RETURN_IF_ERROR(AddNamespace(ns, parts_.mapping, mapper, matchers));
    }
    return Fill(parts_.query, series, matchers, {});
  }

  bool QueriesSeparateObjects() const override { return parts_.shape.separates_objects; }
  bool GroupsByNamespace() const override { return parts_.shape.keeps_namespaces; }
  bool ExternalQueriesSeparate(absl::string_view label) const override {
    return parts_.shape.SeparatesLabel(label);
  }

 private:
  const RuleParts parts_;
};

struct ResourceRuleParts {
  std::string container_label;
  ResourceMapping mapping;
  QueryTemplate container_query, node_query;
  QueryShape container_shape;
};

class ResourceRule final : public CompiledResourceRule {
 public:
  explicit ResourceRule(ResourceRuleParts parts) : parts_(std::move(parts)) {}

  const std::string& container_label() const override { return parts_.container_label; }
  absl::StatusOr<std::string> LabelOfResource(const kube::GroupResource& resource,
                                              const kube::RestMapper& mapper) const override {
    return parts_.mapping.LabelOfResource(resource, mapper);
  }
  absl::StatusOr<std::string> ContainerQuery(absl::string_view ns,
                                             const std::vector<std::string>& pods,
                                             const kube::RestMapper& mapper) const override {
    // The container label is asked for even where it is not set, as in the original.
    return BuildObjectQuery(
        {parts_.container_query, parts_.mapping, {parts_.container_label}},
        {.series = "", .resource = kPods, .ns = std::string(ns), .names = pods, .selector = {}},
        mapper);
  }
  absl::StatusOr<std::string> NodeQuery(const std::vector<std::string>& nodes,
                                        const kube::RestMapper& mapper) const override {
    return BuildObjectQuery(
        {parts_.node_query, parts_.mapping, {}},
        {.series = "", .resource = kNodes, .ns = std::nullopt, .names = nodes, .selector = {}},
        mapper);
  }
  bool ContainerQueryKeepsNamespaces() const override {
    return parts_.container_shape.keeps_namespaces;
  }
  bool ContainerQuerySeparatesPods() const override {
    return parts_.container_shape.separates_objects;
  }

 private:
  const ResourceRuleParts parts_;
};

class Compiler {
 public:
  Compiler(absl::string_view file, Findings& findings) : file_(file), findings_(findings) {}

  std::shared_ptr<const CompiledRules> Compile(const Config& config) {
    auto rules = std::make_shared<CompiledRules>();
    CompileList(config.rules, "rules", rules->custom);
    CompileList(config.external_rules, "externalRules", rules->external);
    if (config.resource_rules) {
      const ResourceRulesConfig& resource = *config.resource_rules;
      rules->resource = CompiledResourceRules{
          .cpu = CompileResourceRule(resource.cpu, "resourceRules.cpu"),
          .memory = CompileResourceRule(resource.memory, "resourceRules.memory"),
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

  void CompileList(const std::vector<RuleConfig>& configs, absl::string_view list,
                   std::vector<std::shared_ptr<const CompiledRule>>& out) {
    for (size_t i = 0; i < configs.size(); ++i) {
      const RuleConfig& config = configs[i];
      const std::string path = absl::StrCat(list, "[", i, "]");
      // All parts are tried, so that all errors are found.
      auto naming = SeriesNaming::Compile(config, path, findings_);
      auto mapping = CompileMapping(config.resources, path + ".resources");
      auto query = CompileQuery(config.metrics_query, path + ".metricsQuery");
      if (!naming || !mapping || !query) continue;
      const QueryShape shape = ShapeOf(*query, mapping->NamespaceLabel());
      out.push_back(std::make_shared<Rule>(
          RuleParts{.index = static_cast<int>(i),
                    .where = absl::StrCat(file_, ":", config.place.line),
                    .series_query = config.series_query.text,
                    .naming = *std::move(naming),
                    .mapping = *std::move(mapping),
                    .query = *std::move(query),
                    .shape = shape,
                    .namespaced = config.resources.namespaced.value_or(true)}));
    }
  }

  std::shared_ptr<const CompiledResourceRule> CompileResourceRule(const ResourceRuleConfig& config,
                                                                  const std::string& path) {
    auto mapping = CompileMapping(config.resources, path + ".resources");
    auto container = CompileQuery(config.container_query, path + ".containerQuery");
    auto node = CompileQuery(config.node_query, path + ".nodeQuery");
    if (!mapping || !container || !node) return nullptr;
    const QueryShape shape = ShapeOf(*container, mapping->NamespaceLabel());
    return std::make_shared<ResourceRule>(
        ResourceRuleParts{config.container_label.text, *std::move(mapping), *std::move(container),
                          *std::move(node), shape});
  }

  const std::string file_;
  Findings& findings_;
  std::vector<ResourceReference> references_;
};

}  // namespace

CompileResult CompileRules(absl::string_view text, absl::string_view file) {
  Findings findings(file);
  const Config config = ReadConfig(text, findings);
  std::shared_ptr<const CompiledRules> rules = Compiler(file, findings).Compile(config);
  LintConfig(config, findings);
  CompileResult result;
  if (!findings.has_errors()) {
    auto named = std::make_shared<CompiledRules>(*rules);
    named->fingerprint = absl::StrFormat("%016x", StableHash(text));
    result.rules = std::move(named);
  }
  result.findings = std::move(findings).Take();
  return result;
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
