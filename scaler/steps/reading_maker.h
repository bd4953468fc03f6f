// Makes readings of answers, without an allocation for each pod.
//
// Pure. The result equals what scaler/math/readings.h makes of the same answer after the guard of
// guard.h, error texts included. There is one difference: of an answer for a whole namespace only
// the pods of the table count, so that pods which the metrics API knows and our watch does not
// (yet) are left out.
#pragma once

#include "scaler/math/input.h"
#include "scaler/math/pods.h"
#include "scaler/questions/answer.h"
#include "scaler/spec/autoscaler.h"

namespace flyball::scaler {

// Overwrites all of `reading` but its version, reusing its buffers.
void MakeReading(const Answer& answer, const MetricSpec& metric, const PodTable& table,
                 Reading& reading);
// The same, with the times in `last`.
void MakeReading(const LastAnswer& last, const MetricSpec& metric, const PodTable& table,
                 Reading& reading);

// Takes the samples of pods out that are not in the table; without any other nothing is known.
void DropStrangers(Reading& reading);

void MakeTriggerReading(const TriggerReading& trigger, Reading& reading);

// Puts `fresh` into `kept`. When the content differs the version of `kept` becomes `next_version`,
// and the result is true. Times count as content only with `times_matter`; they are taken over in
// any case. `fresh` is left with buffers to be used again.
bool TakeReading(Reading& fresh, bool times_matter, uint64_t next_version, Reading& kept);

}  // namespace flyball::scaler
