// Determines what is done with the decisions of one autoscaler.
//
// Pure.
#pragma once

#include "scaler/stores/managed.h"

namespace flyball::scaler {

struct ModeFlags {
  Mode mode = Mode::kShadow;  // --scaler-mode
  bool act_on_hpas = false;   // --scaler-hpa: HPAs may have mode act too
};

// The annotation overrides the spec, and the spec the flag. The mode is shadow if the annotation
// has any other value, since its intent is unknown, and if the autoscaler is paused. An HPA can
// have mode act only with act_on_hpas: without it the stock controller is at work, and the mode is
// shadow.
Mode EffectiveMode(const Managed& managed, const ModeFlags& flags);

// The autoscaler with its schedules applied for that time. A HorizontalPodAutoscaler in mode shadow
// stays as it is written, since the stock controller knows no schedules.
ManagedPtr ScheduledAt(const ManagedPtr& written, const ModeFlags& flags, absl::Time now);

}  // namespace flyball::scaler
