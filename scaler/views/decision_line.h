// A decision as one line of JSON, for --decision-log.
//
// Pure. Members, of which those are left out that are not known:
//   time, kind, namespace, name, mode         of the decision
//   outcome                                   Decided, MetricsFailed, …
//   current, desired, min, max                replicas: read, wanted, the bounds of that time
//   unbounded                                 before windows, policies and bounds
//   reason                                    what limited it (limiting_reason.h)
//   metric, proposal, readingAgeSeconds       of the metric that decided
//   written, error                            what became of it
//   schedules                                 those that were open
#pragma once

#include <cstdint>
#include <string>

#include "scaler/views/decision_record.h"

namespace flyball::scaler {

// Ends with a line break. Bytes that are not UTF-8 are replaced.
std::string DecisionLine(const DecisionRecord& record);

// Equal for decisions of an autoscaler that are no news to each other: the same counts, mode,
// outcome and reason, and the same error.
uint64_t DecisionNews(const DecisionRecord& record);

}  // namespace flyball::scaler
