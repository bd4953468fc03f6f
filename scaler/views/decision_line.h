// A decision as one line of JSON, for --decision-log.
//
// Pure. Its members (those that are not known are left out):
//   time, kind, namespace, name, mode         of the decision
//   outcome                                   Decided, MetricsFailed, …
//   current, desired, min, max                replicas: read, wanted, the bounds of that time
//   unbounded                                 the count before windows, policies and bounds
//   reason                                    what limited the count (limiting_reason.h)
//   metric, proposal, readingAgeSeconds       of the metric that decided
//   written, error                            the outcome of the scale write
//   schedules                                 the schedules that were open
#pragma once

#include <cstdint>
#include <string>

#include "scaler/views/decision_record.h"

namespace flyball::scaler {

// Ends with a line break. Bytes that are not UTF-8 are replaced.
std::string DecisionLine(const DecisionRecord& record);

// A hash that is equal for decisions of one autoscaler which need no second line: those with the
// same counts, mode, outcome, reason and error.
uint64_t DecisionNews(const DecisionRecord& record);

}  // namespace flyball::scaler
