// The triggers of an Autoscaler in `decide -f`, which asks no server: a cron trigger needs only the
// time, any other is unknown.
//
// Pure.
#pragma once

#include <vector>

#include "absl/time/time.h"
#include "scaler/spec/autoscaler.h"
#include "scaler/spec/own_spec.h"
#include "scaler/triggers/trigger.h"

namespace flyball::scaler {

// Appends the metrics of the triggers to those of the autoscaler, and returns their readings.
std::vector<TriggerReading> ReadGivenTriggers(const OwnSpec& own, absl::Time now,
                                              Autoscaler& autoscaler);

}  // namespace flyball::scaler
