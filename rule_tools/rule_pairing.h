// Finds the rule of a new file that corresponds to each rule of an old one. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "rules/config.h"

namespace flyball::rule_tools {

// From the index of a rule in the old list to that in the new one.
using RulePairs = std::map<size_t, size_t>;

// Equal rules are paired first, wherever they are; then those with the same series and the same
// name, those with the same series, and those with the same name and query. Each rule is in at most
// one pair.
RulePairs PairRules(const std::vector<rules::RuleConfig>& was,
                    const std::vector<rules::RuleConfig>& is);

// Which of the new indices, given in the old order, are out of order: as few as possible, that is,
// all but a longest rising subsequence.
std::vector<bool> OutOfOrder(const std::vector<size_t>& indices);

}  // namespace flyball::rule_tools
