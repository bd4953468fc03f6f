// The defaults of an autoscaler with a trigger of type `http`, where they differ from those of any
// other autoscaler.
//
// Pure.
//   - Annotations autoscaling.knative.dev/… of the object replace metadata that are absent.
//   - If the spec has no metrics and no other triggers, the trigger's count is followed at once:
//     without a `behavior` there is no stabilization and no limit on the rate, and without a
//     `cooldownPeriod` there is no cooldown. Knative's windows, rates, delay and retention, which
//     are set in the trigger's metadata, have already done all that. With other metrics or triggers
//     the usual defaults hold, since those need them.
//   - A second such trigger is an error: both would hold requests for the same pods.
#pragma once

#include "scaler/spec/autoscaler.h"
#include "scaler/spec/field_error.h"
#include "scaler/spec/own_spec.h"

namespace flyball::scaler {

// `has_cooldown`: the object has a `cooldownPeriod`.
void ApplyRequestDefaults(bool has_cooldown, Autoscaler& autoscaler, OwnSpec& own,
                          FieldErrors& errors);

}  // namespace flyball::scaler
