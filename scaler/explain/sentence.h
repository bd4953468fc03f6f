// Says in one sentence why a decision has this count and not one more.
//
// Pure.
#pragma once

#include <string>

#include "scaler/explain/given_case.h"

namespace flyball::scaler {

// "lag: 35 / 10 = 3.5, rounded up to 4; one more only for a total above 40". Names what the count
// comes from: the bounds, a rule, the window, or the formula of the metric that asked for the most.
std::string WhyThisCount(const GivenCase& given);

// Does the same for the proposal of one metric.
std::string WhyThisProposal(const MetricSpec& metric, const Proposal& proposal);

// The policies that limit the decision in its direction, and which of them counts: "4 pods in 15s
// from 5 allows 9; 100% in 15s from 5 allows 10; the largest change counts".
std::string ShowRules(const GivenCase& given);

// The target of a metric: "60% of the request", "0.5 cores for each pod", "10 for each replica".
std::string ShowTarget(const MetricSpec& metric, const Proposal& proposal);

}  // namespace flyball::scaler
