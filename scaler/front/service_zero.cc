// The part of a service that scales to zero and wakes again.
#include <algorithm>
#include <utility>

#include "scaler/front/service.h"

namespace flyball::front {
namespace {

// After this time a scale that could not be written is asked for again.
constexpr absl::Duration kWishPause = absl::Seconds(1);

}  // namespace

void Service::FallAsleep() {
  asleep_ = true;
  decided_ = 0;
  pods_.DoomAll();
  PodsChanged();
}

bool Service::ZeroIsSafe(const Turn& turn) const {
  const scaler::RequestSettings& settings = spec_.settings;
  if (!queue_.empty() || !settings.enable_scale_to_zero || settings.min_scale > 0) return false;
  switch (state_) {
    case ServiceState::kZero:  // its pods are unready
    case ServiceState::kClosing:
      if (turn.now < unused_since_ + settings.pod_retention) return false;
      break;
    case ServiceState::kActivating:
      if (turn.now <= ActivationEnd()) return false;
      break;
    default: return false;
  }
  return publisher_.gated() && publisher_.AllHaveRoute() && idle_.IsIdle(turn.envoys, load_);
}

void Service::OfferZeroIfSafe(Turn& turn) {
  if (state_ != ServiceState::kClosing || zero_offered_ || !ZeroIsSafe(turn)) return;
  zero_offered_ = true;
  turn.effects.push_back(OfferZero{spec_.name});
}

bool Service::MayEnterZero(Turn& turn) {
  decided_ = 0;
  React(turn);
  if (state_ == ServiceState::kZero && asleep_) return true;
  if (!begun_ || !ZeroIsSafe(turn)) return false;
  if (state_ == ServiceState::kZero) {
    FallAsleep();
  } else {
    zero_entered_ = true;
  }
  React(turn);
  return true;
}

void Service::ScaleWritten(int32_t count, Turn& turn) {
  at_first_ = std::min(at_first_, count);
  if (count == 0) return;
  decided_ = count;
  wished_ = std::max(wished_, count);
  cold_start_.Written(turn.now);
  pods_.Raised(turn.now);
  if (!begun_) asleep_ = false;  // once it has begun, React wakes it through its states
  React(turn);
}

void Service::ScaleRefused(int32_t count, absl::string_view word, Turn& turn) {
  if (count == 0) {
    if (state_ == ServiceState::kZero && std::exchange(asleep_, false)) {
      pods_.PardonAll();
      PodsChanged();
    }
  } else if (state_ == ServiceState::kActivating) {
    scale_refused_ = std::string(word);
  }
  React(turn);
}

void Service::ScaleDelayed(Turn& turn) {
  if (state_ != ServiceState::kActivating) return;
  wished_ = 0;
  next_wish_ = turn.now + kWishPause;
}

}  // namespace flyball::front
