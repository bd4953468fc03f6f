// Makes readings from answers of providers by the functions of math/read_items.h, with the guard of
// guard.h, and without an allocation for each pod.
//
// Pure. Of an answer for a whole namespace only the pods in the table count, so pods that the
// metrics API knows and our watch does not (yet) are left out.
#pragma once

#include "scaler/math/input.h"
#include "scaler/math/pods.h"
#include "scaler/questions/answer.h"
#include "scaler/spec/autoscaler.h"

namespace flyball::scaler {

// Overwrites all of `reading` but its version; its buffers are reused.
void MakeReading(const Answer& answer, const MetricSpec& metric, const PodTable& table,
                 Reading& reading);
// Does the same, with the times in `last`.
void MakeReading(const LastAnswer& last, const MetricSpec& metric, const PodTable& table,
                 Reading& reading);

// Removes the samples of pods that are not in the table. If none is left, the reading is unknown.
void DropStrangers(Reading& reading);

void MakeTriggerReading(const TriggerReading& trigger, Reading& reading);

// Moves `fresh` into `kept`. If the content differs, the version of `kept` becomes `next_version`
// and the result is true. Times are always taken over, but count as content only with
// `times_matter`. `fresh` keeps buffers that can be reused.
bool TakeReading(Reading& fresh, bool times_matter, uint64_t next_version, Reading& kept);

}  // namespace flyball::scaler
