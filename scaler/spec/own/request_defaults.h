// What an autoscaler with a trigger of type `http` has otherwise than any other.
//
// Pure.
//   - Annotations autoscaling.knative.dev/… of the object stand in for metadata that are absent.
//   - Where that trigger alone decides, what it wants is followed at once: without a `behavior`
//     there are no stabilization and no policies, and without a `cooldownPeriod` there is none.
//     Knative's windows, rates, delay and retention have done all that already, and are set in the
//     trigger's metadata. Beside other metrics or triggers the usual defaults hold, which these
//     need.
//   - There is one such trigger at most: two would be two gates before the same pods.
#pragma once

#include "scaler/spec/autoscaler.h"
#include "scaler/spec/field_error.h"
#include "scaler/spec/own_spec.h"

namespace flyball::scaler {

// `has_cooldown`: the object says one.
void ApplyRequestDefaults(bool has_cooldown, Autoscaler& autoscaler, OwnSpec& own,
                          FieldErrors& errors);

}  // namespace flyball::scaler
