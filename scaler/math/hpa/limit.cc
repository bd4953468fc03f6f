#include "scaler/math/hpa/metrics_path.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/go/arithmetic.h"
#include "scaler/math/history.h"

namespace flyball::scaler {
namespace {

// The counts that the default rule lets a target grow to: twice as many, and at least 4.
constexpr double kDefaultGrowthFactor = 2.0;
constexpr double kDefaultGrowthMinimum = 4.0;

enum class Direction { kUp, kDown };

// Clears what the last decision left but keeps its buffers.
Limiting& Reset(Decision& decision) {
  Limiting fresh;
  if (decision.limiting.has_value()) fresh.policies = std::move(decision.limiting->policies);
  fresh.policies.clear();
  fresh.before = fresh.after = decision.stabilization->after;
  fresh.lowest = decision.min_replicas;
  fresh.highest = decision.max_replicas;
  return decision.limiting.emplace(std::move(fresh));
}

void Clamp(int32_t to, LimitedBy by, Limiting& out) {
  out.after = to;
  out.by = by;
}

// What one policy allows; `previous` is the result of the policy before it, which a policy of an
// unknown type repeats.
int32_t Allowed(const ScalingPolicy& policy, Direction direction, int32_t start, int32_t previous) {
  const double share = static_cast<double>(policy.value) / 100;
  switch (policy.type) {
    case PolicyType::kPods:
      return direction == Direction::kUp ? WrapAdd32(start, policy.value)
                                         : WrapSub32(start, policy.value);
    case PolicyType::kPercent:
      // Growth is rounded up, so that a small count can grow at all.
      return direction == Direction::kUp
                 ? GoInt32(std::ceil(static_cast<double>(start) * (1 + share)))
                 : GoInt32(static_cast<double>(start) * (1 - share));
    case PolicyType::kOther: return previous;
  }
  return previous;
}

// The count that the rules allow, before it is limited by the current one.
int32_t RateLimit(const Decision& decision, Direction direction, const ScalingRules& rules,
                  Limiting& out) {
  if (rules.select_policy == SelectPolicy::kDisabled) {
    out.disabled = true;
    return decision.current;
  }
  // Max means the largest change: the highest count upwards, the lowest downwards.
  const bool highest = (rules.select_policy == SelectPolicy::kMax) == (direction == Direction::kUp);
  int32_t result =
      highest ? std::numeric_limits<int32_t>::min() : std::numeric_limits<int32_t>::max();
  int32_t previous = 0;
  for (size_t i = 0; i < rules.policies.size(); ++i) {
    const ScalingPolicy& policy = rules.policies[i];
    PolicyLimit limit{
        .policy = i,
        .added = ChangeWithin(decision.state.scale_ups, policy.period_seconds, decision.now),
        .removed = ChangeWithin(decision.state.scale_downs, policy.period_seconds, decision.now)};
    limit.period_start = WrapAdd32(WrapSub32(decision.current, limit.added), limit.removed);
    limit.limit = previous = Allowed(policy, direction, limit.period_start, previous);
    if (highest ? limit.limit > result : limit.limit < result) {
      result = limit.limit;
      out.policy = i;
    }
    out.policies.push_back(limit);
  }
  return result;
}

void LimitByDefault(const Decision& decision, Limiting& out) {
  out.up = out.down = true;
  const int32_t growth = GoInt32(std::max(
      kDefaultGrowthFactor * static_cast<double>(decision.current), kDefaultGrowthMinimum));
  out.rate_limit = growth;
  const bool by_rate = decision.max_replicas > growth;
  if (by_rate) out.highest = growth;
  if (out.before < out.lowest) return Clamp(out.lowest, LimitedBy::kMinReplicas, out);
  if (out.before > out.highest) {
    Clamp(out.highest, by_rate ? LimitedBy::kScaleUpLimit : LimitedBy::kMaxReplicas, out);
  }
}

void LimitByBehavior(const Decision& decision, const Behavior& behavior, Limiting& out) {
  if (out.before > decision.current) {
    out.up = true;
    const int32_t allowed =
        std::max(RateLimit(decision, Direction::kUp, behavior.scale_up, out), decision.current);
    out.rate_limit = allowed;
    const bool by_rate = decision.max_replicas > allowed;
    if (by_rate) out.highest = allowed;
    if (out.before > out.highest) {
      Clamp(out.highest, by_rate ? LimitedBy::kScaleUpLimit : LimitedBy::kMaxReplicas, out);
    }
  } else if (out.before < decision.current) {
    out.down = true;
    const int32_t allowed =
        std::min(RateLimit(decision, Direction::kDown, behavior.scale_down, out), decision.current);
    out.rate_limit = allowed;
    const bool by_rate = decision.min_replicas < allowed;
    if (by_rate) out.lowest = allowed;
    if (out.before < out.lowest) {
      Clamp(out.lowest, by_rate ? LimitedBy::kScaleDownLimit : LimitedBy::kMinReplicas, out);
    }
  }
}

}  // namespace

void Limit(const DecisionInput& input, Decision& decision) {
  Limiting& out = Reset(decision);
  if (input.autoscaler->behavior.has_value()) {
    LimitByBehavior(decision, *input.autoscaler->behavior, out);
  } else {
    LimitByDefault(decision, out);
  }
  decision.desired = out.after;
}

const LimitWords& WordsOf(LimitedBy by) {
  // In the order of LimitedBy.
  static constexpr LimitWords kWords[] = {
      {"DesiredWithinRange", "the desired count is within the acceptable range"},
      {"ScaleUpLimit",
       "the desired replica count is increasing faster than the maximum scale rate"},
      {"ScaleDownLimit",
       "the desired replica count is decreasing faster than the maximum scale rate"},
      {"TooManyReplicas", "the desired replica count is more than the maximum replica count"},
      {"TooFewReplicas", "the desired replica count is less than the minimum replica count"}};
  return kWords[static_cast<size_t>(by)];
}

}  // namespace flyball::scaler
