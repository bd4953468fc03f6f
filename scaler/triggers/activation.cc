#include "scaler/triggers/activation.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace flyball::scaler {
namespace {

// Strictly later, as in the original. Without any activity the autoscaler's creation counts,
// without a cooldown.
bool CooldownIsOver(const ActivationInput& input) {
  if (!input.last_active.has_value()) return input.created < input.now;
  return *input.last_active + input.cooldown < input.now;
}

const TriggerReading* FirstFailed(const ActivationInput& input) {
  for (const TriggerReading& reading : input.readings) {
    if (reading.failed()) return &reading;
  }
  return nullptr;
}

Activation WhileActive(const ActivationInput& input) {
  Activation out{.active = true,
                 .last_active = input.now,
                 .reason = "ScalerActive",
                 .message = "a trigger is active"};
  if (input.current == 0) {
    out.step = ActivationStep::kActivate;
    out.replicas = std::max(input.min_replicas, 1);
    for (const TriggerReading& reading : input.readings) {
      out.replicas = std::max(out.replicas, reading.replicas.value_or(0));
    }
    if (input.max_replicas >= 1) out.replicas = std::min(out.replicas, input.max_replicas);
  }
  return out;
}

Activation WhileInactive(const ActivationInput& input) {
  Activation out{.last_active = input.last_active,
                 .reason = "ScalerNotActive",
                 .message = "no trigger is active"};
  if (input.current == 0 && input.min_replicas > 0) {
    out.step = ActivationStep::kActivate;
    out.replicas = input.min_replicas;
  } else if (input.current == 0) {
    out.step = ActivationStep::kWait;
  } else if (input.min_replicas == 0 && CooldownIsOver(input)) {
    out.step = ActivationStep::kDeactivate;
    if (input.last_active.has_value()) {
      out.message = absl::StrCat(
          "no trigger has been active for ",
          absl::FormatDuration(absl::Floor(input.now - *input.last_active, absl::Seconds(1))));
    }
  } else if (input.min_replicas == 0) {
    out.reason = "ScalerCooldown";
    out.message = absl::StrCat("no trigger is active; the cooldown of ",
                               absl::FormatDuration(input.cooldown), " is not over");
  }
  return out;
}

Activation WhileUnknown(const ActivationInput& input, const TriggerReading& unknown) {
  return {.step = input.current == 0 ? ActivationStep::kWait : ActivationStep::kFollowMetrics,
          .last_active = input.last_active,
          .reason = "TriggerError",
          .message = absl::StrCat("not known whether a trigger is active: ", unknown.error)};
}

Activation DecideByReadings(const ActivationInput& input) {
  const bool active = std::any_of(input.readings.begin(), input.readings.end(),
                                  [](const TriggerReading& reading) { return reading.active; });
  if (active) return WhileActive(input);
  if (const TriggerReading* unknown = FirstFailed(input)) return WhileUnknown(input, *unknown);
  return WhileInactive(input);
}

}  // namespace

std::optional<absl::Time> TakeOverActivity(std::optional<absl::Time> stored, bool maybe_active,
                                           absl::Time now) {
  if (maybe_active) return now;
  if (!stored.has_value()) return std::nullopt;
  return std::max(*stored, std::min(*stored + absl::Seconds(1), now));
}

Activation DecideActivation(const ActivationInput& input) {
  Activation out = DecideByReadings(input);
  for (const TriggerReading& reading : input.readings) {
    if (reading.front.has_value()) out.front = reading.front;
  }
  return out;
}

}  // namespace flyball::scaler
