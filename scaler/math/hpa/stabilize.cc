#include "scaler/math/hpa/metrics_path.h"

#include <cstddef>
#include <optional>

#include "base/go/arithmetic.h"
#include "scaler/math/history.h"

namespace flyball::scaler {

Stabilization StabilizeDown(const StabilizeInput& input, absl::Duration window,
                            ScalerState& state) {
  Stabilization out;
  out.down_window = window;
  out.before = out.down_highest = input.recommended;
  const absl::Time cutoff = input.now - window;
  std::optional<size_t> outdated;
  for (size_t i = 0; i < state.recommendations.size(); ++i) {
    const Recommendation& past = state.recommendations[i];
    if (past.time < cutoff) {
      outdated = i;
    } else if (past.replicas > out.down_highest) {
      out.down_highest = past.replicas;
      out.by = past;
    }
  }
  out.after = out.down_highest;
  RecordRecommendation({.replicas = input.recommended, .time = input.now}, outdated, state);
  return out;
}

Stabilization StabilizeBothWays(const StabilizeInput& input, const Behavior& behavior,
                                absl::Duration default_down_window, ScalerState& state) {
  // Upstream keeps a missing window as an int32 of seconds.
  const int32_t down_seconds = behavior.scale_down.stabilization_window_seconds.value_or(
      GoInt32(absl::ToDoubleSeconds(default_down_window)));
  Stabilization out;
  out.with_behavior = true;
  out.up_window = absl::Seconds(behavior.scale_up.stabilization_window_seconds.value_or(0));
  out.down_window = absl::Seconds(down_seconds);
  out.before = out.up_lowest = out.down_highest = input.recommended;
  const absl::Time up_cutoff = input.now - out.up_window;
  const absl::Time down_cutoff = input.now - out.down_window;
  std::optional<size_t> outdated;
  std::optional<Recommendation> lowest, highest;
  for (size_t i = 0; i < state.recommendations.size(); ++i) {
    const Recommendation& past = state.recommendations[i];
    if (past.time > up_cutoff && past.replicas < out.up_lowest) {
      out.up_lowest = past.replicas;
      lowest = past;
    }
    if (past.time > down_cutoff && past.replicas > out.down_highest) {
      out.down_highest = past.replicas;
      highest = past;
    }
    if (past.time < up_cutoff && past.time < down_cutoff) outdated = i;
  }
  out.after = input.current;
  if (out.after < out.up_lowest) out.after = out.up_lowest;
  if (out.after > out.down_highest) out.after = out.down_highest;
  if (out.after != out.before) out.by = input.recommended >= input.current ? lowest : highest;
  RecordRecommendation({.replicas = input.recommended, .time = input.now}, outdated, state);
  return out;
}

}  // namespace flyball::scaler
