// Which rule of an old file is which of a new one. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "rules/config.h"

namespace flyball::rule_tools {

// From the index of a rule in the old list to that in the new one.
using RulePairs = std::map<size_t, size_t>;

// Rules that say the same are paired first, wherever they stand; then those that ask for the same
// series under the same name, those that ask for the same series, and those with the same name and
// query. Each rule is in one pair at most.
RulePairs PairRules(const std::vector<rules::RuleConfig>& was,
                    const std::vector<rules::RuleConfig>& is);

// Which of the new indices, given in the old order, are out of order: as few as can be, all but a
// longest rising run.
std::vector<bool> OutOfOrder(const std::vector<size_t>& indices);

}  // namespace flyball::rule_tools
