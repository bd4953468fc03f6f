// The triggers of an Autoscaler in `decide -f`, where nobody outside is asked: a cron trigger needs
// the time alone, any other is unknown.
//
// Pure.
#pragma once

#include <vector>

#include "absl/time/time.h"
#include "scaler/spec/autoscaler.h"
#include "scaler/spec/own_spec.h"
#include "scaler/triggers/trigger.h"

namespace flyball::scaler {

// Puts the metrics of the triggers behind those of the autoscaler, and returns what each says.
std::vector<TriggerReading> ReadGivenTriggers(const OwnSpec& own, absl::Time now,
                                              Autoscaler& autoscaler);

}  // namespace flyball::scaler
