// Compiles onFailure of a rule: the answer for an external metric while its source fails.
//
// Pure. Only externalRules have it. In `rules` each value belongs to one pod or object, so a kept
// value would be multiplied again with each new count of pods; and for Object metrics a rule does
// not show which HPA asks for which object.
#pragma once

#include <optional>
#include <string>

#include "rules/compiled_rules.h"

namespace flyball::rules {

// nullopt: there is none, or its errors are among the findings. `external`: the rule is one of
// externalRules.
std::optional<OnFailure> CompileOnFailure(const RuleConfig& rule, bool external,
                                          const std::string& path, Findings& findings);

// The API name of the rule's only series if seriesQuery names one; "" otherwise.
std::string SoleMetric(const RuleConfig& rule, const SeriesNaming& naming);

}  // namespace flyball::rules
