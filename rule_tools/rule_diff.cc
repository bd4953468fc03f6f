#include "rule_tools/rule_diff.h"

#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rule_tools/rule_fields.h"
#include "rule_tools/rule_pairing.h"

namespace flyball::rule_tools {
namespace {

using rules::Config;
using rules::RuleConfig;

std::vector<FieldDifference> FieldDifferences(const RuleFields& was, const RuleFields& is) {
  std::vector<FieldDifference> out;
  const std::map<std::string, std::string> old_texts(was.begin(), was.end());
  const std::map<std::string, std::string> new_texts(is.begin(), is.end());
  for (const auto& [field, text] : was) {
    const auto now = new_texts.find(field);
    if (now == new_texts.end()) {
      out.push_back({field, text, std::nullopt});
    } else if (now->second != text) {
      out.push_back({field, text, now->second});
    }
  }
  for (const auto& [field, text] : is) {
    if (!old_texts.contains(field)) out.push_back({field, std::nullopt, text});
  }
  return out;
}

RuleDifference::At PlaceOf(const std::vector<RuleConfig>& list, size_t index) {
  return {index, list[index].place.line};
}

void DiffList(const char* name, const std::vector<RuleConfig>& was,
              const std::vector<RuleConfig>& is, RulesDiff& out) {
  const RulePairs pairs = PairRules(was, is);
  std::map<size_t, RuleDifference> in_new_order;
  std::vector<size_t> order;
  for (const auto& [before, after] : pairs) order.push_back(after);
  const std::set<size_t> paired(order.begin(), order.end());
  const std::vector<bool> moved = OutOfOrder(order);
  size_t next = 0;
  for (size_t i = 0; i < was.size(); ++i) {
    const auto pair = pairs.find(i);
    if (pair == pairs.end()) {
      out.differences.push_back({.kind = RuleDifference::Kind::kGone,
                                 .list = name,
                                 .was = PlaceOf(was, i),
                                 .is = std::nullopt,
                                 .series = was[i].series_query.text,
                                 .fields = FieldDifferences(FieldsOf(was[i]), {})});
      continue;
    }
    const bool out_of_order = moved[next++];
    const size_t j = pair->second;
    std::vector<FieldDifference> fields = FieldDifferences(FieldsOf(was[i]), FieldsOf(is[j]));
    if (fields.empty() && !out_of_order) {
      ++out.same;
      continue;
    }
    in_new_order[j] = {
        .kind = fields.empty() ? RuleDifference::Kind::kMoved : RuleDifference::Kind::kChanged,
        .list = name,
        .was = PlaceOf(was, i),
        .is = PlaceOf(is, j),
        .series = is[j].series_query.text,
        .fields = std::move(fields)};
  }
  for (size_t j = 0; j < is.size(); ++j) {
    if (paired.contains(j)) continue;
    in_new_order[j] = {.kind = RuleDifference::Kind::kNew,
                       .list = name,
                       .was = std::nullopt,
                       .is = PlaceOf(is, j),
                       .series = is[j].series_query.text,
                       .fields = FieldDifferences({}, FieldsOf(is[j]))};
  }
  for (auto& [index, difference] : in_new_order) out.differences.push_back(std::move(difference));
}

// resourceRules as one rule: "cpu.containerQuery", …, "window".
RuleFields ResourceFieldsOf(const std::optional<rules::ResourceRulesConfig>& config) {
  RuleFields out;
  if (!config.has_value()) return out;
  for (const auto& [prefix, rule] :
       {std::pair{"cpu.", &config->cpu}, {"memory.", &config->memory}}) {
    for (auto& [field, text] : FieldsOf(*rule)) {
      out.emplace_back(absl::StrCat(prefix, field), std::move(text));
    }
  }
  if (config->window != absl::ZeroDuration()) {
    out.emplace_back("window", absl::FormatDuration(config->window));
  }
  return out;
}

std::optional<RuleDifference::At> PlaceOf(const std::optional<rules::ResourceRulesConfig>& config) {
  if (!config.has_value()) return std::nullopt;
  return RuleDifference::At{0, config->place.line};
}

void DiffResources(const Config& was, const Config& is, RulesDiff& out) {
  RuleDifference difference = {.kind = !was.resource_rules.has_value() ? RuleDifference::Kind::kNew
                                       : !is.resource_rules.has_value()
                                           ? RuleDifference::Kind::kGone
                                           : RuleDifference::Kind::kChanged,
                               .list = "resourceRules",
                               .was = PlaceOf(was.resource_rules),
                               .is = PlaceOf(is.resource_rules),
                               .series = "",
                               .fields = FieldDifferences(ResourceFieldsOf(was.resource_rules),
                                                          ResourceFieldsOf(is.resource_rules))};
  if (!difference.fields.empty()) {
    out.differences.push_back(std::move(difference));
  } else if (was.resource_rules.has_value()) {
    ++out.same;
  }
}

}  // namespace

RulesDiff DiffRules(const Config& before, const Config& after) {
  RulesDiff out;
  DiffList("rules", before.rules, after.rules, out);
  DiffList("externalRules", before.external_rules, after.external_rules, out);
  DiffResources(before, after, out);
  return out;
}

}  // namespace flyball::rule_tools
