// onFailure of a rule, compiled: what an external metric is answered with while its source fails.
//
// Pure. Only externalRules have it. In `rules` each value belongs to one pod or object, so a kept
// value would be multiplied again with each new count of pods; and a rule does not show which
// Object metrics are asked for, and by which HPA.
#pragma once

#include <optional>
#include <string>

#include "rules/compiled_rules.h"

namespace flyball::rules {

// nullopt: there is none, or what is wrong with it is among the findings. `external`: the
// rule is one of externalRules.
std::optional<OnFailure> CompileOnFailure(const RuleConfig& rule, bool external,
                                          const std::string& path, Findings& findings);

// What the API calls the rule's only series, where seriesQuery names one; "" otherwise.
std::string SoleMetric(const RuleConfig& rule, const SeriesNaming& naming);

}  // namespace flyball::rules
