#include "kube/client/request_budget.h"

#include <algorithm>

namespace flyball::kube {
namespace {

// Fractions of tokens add up with rounding errors, so a value this near to one counts as one.
constexpr double kOneToken = 1.0 - 1e-6;
// One token of so many is for the least urgent.
constexpr uint64_t kShare = 4;

}  // namespace

RequestBudget::RequestBudget(Clock& clock, double per_second, int burst)
    : clock_(clock),
      per_second_(per_second),
      burst_(std::max(burst, 1)),
      tokens_(burst_),
      filled_at_(clock.MonotonicNow()) {}

bool RequestBudget::TakeNow(MonotonicTime now) {
  if (!(per_second_ > 0)) return true;
  tokens_ = std::min<double>(tokens_ + absl::ToDoubleSeconds(now - filled_at_) * per_second_,
                             static_cast<double>(burst_));
  filled_at_ = now;
  if (tokens_ < kOneToken) return false;
  tokens_ -= 1.0;
  ++taken_;
  return true;
}

const RequestBudget::Turn& RequestBudget::Next() const {
  const bool least_urgent = taken_ % kShare == kShare - 1;
  return least_urgent ? *waiting_.lower_bound({waiting_.rbegin()->first, 0}) : *waiting_.begin();
}

bool RequestBudget::Take(Priority priority, MonotonicTime deadline) {
  absl::MutexLock lock(&mutex_);
  const Turn turn(priority, next_++);
  waiting_.insert(turn);
  bool taken = false;
  while (!shut_) {
    const MonotonicTime now = clock_.MonotonicNow();
    const bool first = Next() == turn;
    taken = first && TakeNow(now);
    if (taken || now >= deadline) break;
    // The first caller waits for its token, the others wait until they are the first.
    MonotonicTime until = deadline;
    if (first) until = std::min(until, now + absl::Seconds((1.0 - tokens_) / per_second_));
    const auto changed = [this, &turn, first]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return shut_ || (Next() == turn) != first;
    };
    clock_.Await(mutex_, absl::Condition(&changed), until);
  }
  waiting_.erase(turn);
  return taken;
}

void RequestBudget::Shutdown() {
  absl::MutexLock lock(&mutex_);
  shut_ = true;
}

size_t RequestBudget::waiting() const {
  absl::MutexLock lock(&mutex_);
  return waiting_.size();
}

}  // namespace flyball::kube
