#include "rule_tools/rule_fields.h"

#include "absl/strings/str_cat.h"
#include "kube/objects/rest_mapping.h"

namespace flyball::rule_tools {
namespace {

using rules::TextField;

class FieldList {
 public:
  void Add(std::string field, const TextField& text) { Add(std::move(field), text.text); }
  void Add(std::string field, std::string text) {
    if (!text.empty()) fields_.emplace_back(std::move(field), std::move(text));
  }

  void AddMapping(const rules::MappingConfig& mapping) {
    Add("resources.template", mapping.label_template);
    for (const rules::OverrideConfig& item : mapping.overrides) {
      const kube::GroupResource resource = {item.group.text, item.resource.text};
      Add(absl::StrCat("resources.overrides.", item.label.text), resource.ToString());
    }
    if (mapping.namespaced.has_value()) {
      Add("resources.namespaced", *mapping.namespaced ? "true" : "false");
    }
  }

  void AddOnFailure(const rules::OnFailureConfig& config) {
    if (config.keep_last > absl::ZeroDuration()) {
      Add("onFailure.keepLast", absl::FormatDuration(config.keep_last));
    }
    Add("onFailure.then", config.then.word);
    Add("onFailure.then.value", config.then.value);
    Add("onFailure.then.replicas", config.then.replicas);
  }

  RuleFields Take() { return std::move(fields_); }

 private:
  RuleFields fields_;
};

}  // namespace

RuleFields FieldsOf(const rules::RuleConfig& rule) {
  FieldList out;
  out.Add("seriesQuery", rule.series_query);
  for (size_t i = 0; i < rule.filters.size(); ++i) {
    out.Add(absl::StrCat("seriesFilters[", i, "].is"), rule.filters[i].is);
    out.Add(absl::StrCat("seriesFilters[", i, "].isNot"), rule.filters[i].is_not);
  }
  out.AddMapping(rule.resources);
  out.Add("name.matches", rule.name.matches);
  out.Add("name.as", rule.name.as);
  out.Add("metricsQuery", rule.metrics_query);
  out.Add("source", rule.source);
  if (rule.on_failure.has_value()) out.AddOnFailure(*rule.on_failure);
  return out.Take();
}

RuleFields FieldsOf(const rules::ResourceRuleConfig& rule) {
  FieldList out;
  out.Add("containerQuery", rule.container_query);
  out.Add("nodeQuery", rule.node_query);
  out.AddMapping(rule.resources);
  out.Add("containerLabel", rule.container_label);
  out.Add("source", rule.source);
  return out.Take();
}

}  // namespace flyball::rule_tools
