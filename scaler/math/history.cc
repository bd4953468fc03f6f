#include "scaler/math/history.h"

#include <algorithm>

#include "base/go/arithmetic.h"

namespace flyball::scaler {
int32_t LongestPeriodSeconds(const ScalingRules& rules) {
  int32_t longest = 0;
  for (const ScalingPolicy& policy : rules.policies) {
    longest = std::max(longest, policy.period_seconds);
  }
  return longest;
}

void RecordInitialRecommendation(int32_t current, absl::Time now, ScalerState& state) {
  if (!state.recommendations.empty()) return;
  state.recommendations.push_back({.replicas = current, .time = now - absl::Microseconds(1)});
}

void RecordRecommendation(const Recommendation& recommendation, std::optional<size_t> outdated,
                          ScalerState& state) {
  if (outdated.has_value()) {
    state.recommendations[*outdated] = recommendation;
  } else {
    state.recommendations.push_back(recommendation);
  }
}

void RecordScaleEvent(const Behavior& behavior, int32_t from, int32_t to, absl::Time now,
                      ScalerState& state) {
  const bool up = to > from;
  std::vector<ScaleEvent>& events = up ? state.scale_ups : state.scale_downs;
  const ScalingRules& rules = up ? behavior.scale_up : behavior.scale_down;
  const absl::Time cutoff = now - absl::Seconds(LongestPeriodSeconds(rules));
  ScaleEvent* replaced = nullptr;
  for (ScaleEvent& event : events) {
    if (event.time < cutoff) event.outdated = true;
    if (event.outdated) replaced = &event;
  }
  const ScaleEvent event{.change = up ? WrapSub32(to, from) : WrapSub32(from, to), .time = now};
  if (replaced != nullptr) {
    *replaced = event;
  } else {
    events.push_back(event);
  }
}

void DropOutdatedAdditions(const Behavior& behavior, absl::Time now, ScalerState& state) {
  const absl::Time cutoff = now - absl::Seconds(LongestPeriodSeconds(behavior.scale_up));
  std::erase_if(state.scale_ups, [cutoff](const ScaleEvent& event) {
    return event.outdated || event.time < cutoff;
  });
}

void DropReplaceableAdditions(const Behavior& behavior, absl::Time earliest, absl::Time latest,
                              ScalerState& state) {
  const absl::Duration period = absl::Seconds(LongestPeriodSeconds(behavior.scale_up));
  const bool depends =
      std::any_of(state.scale_ups.begin(), state.scale_ups.end(), [&](const ScaleEvent& event) {
        return !event.outdated && event.time >= earliest - period && event.time < latest - period;
      });
  if (depends) DropOutdatedAdditions(behavior, latest, state);
}

int32_t ChangeWithin(const std::vector<ScaleEvent>& events, int32_t period_seconds,
                     absl::Time now) {
  const absl::Time cutoff = now - absl::Seconds(period_seconds);
  int32_t sum = 0;
  for (const ScaleEvent& event : events) {
    if (event.time > cutoff) sum = WrapAdd32(sum, event.change);
  }
  return sum;
}

}  // namespace flyball::scaler
