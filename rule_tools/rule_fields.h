// The fields of a rule as texts, in the order in which they are explained. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "rules/config.h"

namespace flyball::rule_tools {

// Only fields that are set: {"seriesQuery", "up"}, {"seriesFilters[0].is", "^up"}, …
using RuleFields = std::vector<std::pair<std::string, std::string>>;

RuleFields FieldsOf(const rules::RuleConfig& rule);
RuleFields FieldsOf(const rules::ResourceRuleConfig& rule);

}  // namespace flyball::rule_tools
