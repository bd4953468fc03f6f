// What `decide -f` does with the parts of an Autoscaler (CRD) that an HPA lacks: its triggers and
// fallbacks.
//
// Pure. No server is asked, so that a cron trigger, which needs only the time, can be read and any
// other is unknown. Files show one moment: what is unknown in them has been unknown for one
// decision, as it would be for a server that has just started. A fallback therefore counts only
// with `failureThreshold: 0`; for all others a note says what they wait for.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "scaler/explain/given_case.h"
#include "scaler/spec/own_spec.h"
#include "scaler/triggers/trigger.h"

namespace flyball::scaler {

// Appends the metrics of the triggers to those of the autoscaler, and returns their readings.
std::vector<TriggerReading> ReadGivenTriggers(const OwnSpec& own, absl::Time now,
                                              Autoscaler& autoscaler);

// Changes `triggers` and out.readings. The readings of triggers are the last ones of out.readings,
// which is empty if no metric was read. `min_replicas` is the minimum of the spec.
void FollowFallbacks(const OwnSpec& own, int32_t min_replicas, absl::Time now, GivenCase& out,
                     std::vector<TriggerReading>& triggers);

}  // namespace flyball::scaler
