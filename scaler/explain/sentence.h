// The one sentence of a decision: why this count and not one more.
//
// Pure.
#pragma once

#include <string>

#include "scaler/explain/given_case.h"

namespace flyball::scaler {

// "35 / 10 asks for 3.5, rounded up to 4; a fifth is needed only above 40". Names what decided: the
// bounds, a rule, the window, or the formula of the metric that asked for the most.
std::string WhyThisCount(const GivenCase& given);

// The same for one metric's proposal alone.
std::string WhyThisProposal(const MetricSpec& metric, const Proposal& proposal);

// The policies that a direction's limit was made of, and which one counted: "Pods 4 in 15s allows 9
// (5 at its start, +4)".
std::string ShowRules(const GivenCase& given);

// The target of a metric: "60% of the request", "0.5 cores for each pod", "10 for each replica".
std::string ShowTarget(const MetricSpec& metric, const Proposal& proposal);

}  // namespace flyball::scaler
