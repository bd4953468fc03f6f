#include "scaler/math/requests/request_decider.h"

#include <algorithm>
#include <cmath>

#include "base/go/arithmetic.h"

namespace flyball::scaler {
namespace {

// The excess burst before the first evaluation, from the initial scale.
int32_t InitialExcessBurst(const RequestSettings& settings) {
  const double reserved = settings.target_burst_capacity;
  if (reserved == -1 || reserved == 0) return GoInt32(reserved);
  return GoInt32(static_cast<double>(settings.initial_scale) * settings.total - reserved);
}

}  // namespace

RequestDecider::RequestDecider(const RequestSettings& settings, PodsSeen pods, absl::Time now)
    : settings_(settings),
      panic_maximum_(pods.ready.value_or(0)),
      excess_burst_(InitialExcessBurst(settings)) {
  if (panic_maximum_ > 1) panic_since_ = now;
  SetDelay(settings.scale_down_delay, now);
}

void RequestDecider::SetDelay(absl::Duration delay, absl::Time now) {
  delayed_.reset();
  if (delay <= absl::ZeroDuration()) return;
  delayed_.emplace(delay, kRequestTick);
  if (wanted_ >= 0) delayed_->Record(now, wanted_);
}

RequestDecider::Demand RequestDecider::DemandOf(double average, double ready) const {
  const double up = std::ceil(settings_.max_scale_up_rate * ready);
  const double down = settings_.reachable ? std::floor(ready / settings_.max_scale_down_rate) : 0;
  Demand demand;
  demand.pods = std::ceil(average / settings_.target);
  demand.count = GoInt32(GoMin(GoMax(demand.pods, down), up));
  // The activation scale overrides the rate limits: a target that is woken gets at least that many.
  if (settings_.activation_scale > 1 && demand.pods > 0) {
    demand.count = std::max(demand.count, settings_.activation_scale);
  }
  return demand;
}

void RequestDecider::FollowPanic(absl::Time now, bool over_threshold) {
  if (over_threshold) {
    panic_since_ = now;
  } else if (panic_since_.has_value() && *panic_since_ + settings_.stable_window < now) {
    panic_since_.reset();
    panic_maximum_ = 0;
  }
}

int32_t RequestDecider::ExcessBurst(int32_t ready, double panic_average) const {
  const double reserved = settings_.target_burst_capacity;
  if (reserved == 0) return 0;
  if (!(reserved > 0)) return -1;
  const double capacity = static_cast<double>(ready) * settings_.total;
  return GoInt32(std::floor(capacity - reserved - panic_average));
}

RequestDecision RequestDecider::Evaluate(absl::Time now, PodsSeen pods,
                                         const TrafficAverages& averages) {
  if (!pods.ready.has_value()) return {};
  if (averages.empty && settings_.scrapes_pods()) return {};
  const double ready = std::max(1.0, static_cast<double>(*pods.ready));
  const Demand stable = DemandOf(averages.stable, ready);
  const Demand panic = DemandOf(averages.panic, ready);
  FollowPanic(now, panic.pods / ready >= settings_.panic_threshold);

  int32_t wanted = stable.count;
  if (panicking()) {
    panic_maximum_ = std::max({panic_maximum_, stable.count, panic.count});
    wanted = panic_maximum_;
  }
  if (settings_.reachable && delayed_.has_value()) wanted = delayed_->Record(now, wanted);

  RequestDecision decision;
  decision.valid = true;
  decision.wanted = wanted;
  decision.excess_burst = ExcessBurst(*pods.ready, averages.panic);
  decision.told = wanted != wanted_ || (decision.excess_burst < 0) != (excess_burst_ < 0);
  wanted_ = wanted;
  excess_burst_ = decision.excess_burst;
  return decision;
}

}  // namespace flyball::scaler
