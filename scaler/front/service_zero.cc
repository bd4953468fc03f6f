// The part of a service that goes to zero, and comes back.
#include <algorithm>

#include "scaler/front/service.h"

namespace flyball::front {
namespace {

// A wake whose clients have gone is given up this long after its progress deadline, as Knative
// does.
constexpr absl::Duration kActivationMargin = absl::Seconds(30);

}  // namespace

void Service::FallAsleep() {
  asleep_ = true;
  decided_ = 0;
  pods_.DoomAll();
  endpoints_ = pods_.Endpoints();
}

bool Service::ZeroIsSafe(const Turn& turn) const {
  const scaler::RequestSettings& settings = spec_.settings;
  if (!queue_.empty() || !settings.enable_scale_to_zero || settings.min_scale > 0) return false;
  switch (state_) {
    case ServiceState::kZero:
      break;
    case ServiceState::kClosing:
      if (turn.now < entered_ + settings.pod_retention) return false;
      break;
    case ServiceState::kActivating:
      if (turn.now <= entered_ + settings.progress_deadline + kActivationMargin) return false;
      break;
    default:
      return false;
  }
  return publisher_.gated() && publisher_.AllHaveRoute() && idle_.IsIdle(turn.envoys, load_);
}

void Service::OfferZeroIfSafe(Turn& turn) {
  if (state_ != ServiceState::kClosing || zero_offered_ || !ZeroIsSafe(turn)) return;
  zero_offered_ = true;
  turn.effects.push_back(OfferZero{spec_.name});
}

int32_t Service::AllowedCount(int32_t decided, Turn& turn) {
  if (!begun_) return std::max(decided, 1);
  if (decided > 0 && asleep_) pods_.Raised(turn.now);
  decided_ = decided;
  React(turn);
  if (decided > 0) return decided;
  if (state_ == ServiceState::kZero && asleep_) return 0;
  if (!ZeroIsSafe(turn)) return 1;
  if (state_ == ServiceState::kZero) {
    FallAsleep();
  } else {
    zero_entered_ = true;
  }
  React(turn);
  return 0;
}

void Service::ZeroNotWritten(Turn& turn) {
  if (state_ != ServiceState::kZero || !asleep_) return;
  asleep_ = false;
  pods_.PardonAll();
  React(turn);
}

void Service::WakeWritten(Turn& turn) {
  cold_start_.Written(turn.now);
  pods_.Raised(turn.now);
  React(turn);
}

void Service::WakeRefused(absl::string_view word, Turn& turn) {
  if (state_ != ServiceState::kActivating) return;
  scale_refused_ = std::string(word);
  React(turn);
}

}  // namespace flyball::front
