// The fallbacks of an Autoscaler in `decide -f`.
//
// Pure. Files tell of one moment: what is unknown in them counts as unknown for the first decision,
// as it does to serve after a start. So a fallback counts at once only with `failureThreshold: 0`;
// of the others a note says what they wait for.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "scaler/explain/given_case.h"
#include "scaler/spec/own_spec.h"
#include "scaler/triggers/trigger.h"

namespace flyball::scaler {

// Changes out.readings, of which the last ones are those of the triggers and which are empty where
// no metric is read, and `triggers`. `min_replicas` is the minimum as it is written.
void FollowFallbacks(const OwnSpec& own, int32_t min_replicas, absl::Time now, GivenCase& out,
                     std::vector<TriggerReading>& triggers);

}  // namespace flyball::scaler
