#include "adapter/prometheus/answer_budget.h"

#include <algorithm>

namespace flyball::adapter::prometheus {
namespace {

// An answer comes in pieces of some kilobytes; the lock is not taken for each of them.
constexpr size_t kStep = 32 << 10;

}  // namespace

bool AnswerBudget::Share::GrowTo(size_t bytes) {
  if (is_long_ || bytes <= std::max(taken_, kFreeBytes)) return true;
  const size_t wanted = bytes + kStep;
  AnswerBudget& all = budget_;
  const auto fits = [&all, wanted, this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return wanted <= all.limit_ / 2 && all.taken_ + wanted - taken_ <= all.limit_;
  };
  const auto may_grow = [&all, &fits]()
                            ABSL_NO_THREAD_SAFETY_ANALYSIS { return fits() || !all.long_; };
  absl::MutexLock lock(&all.mutex_);
  if (!all.clock_.Await(all.mutex_, absl::Condition(&may_grow), deadline_)) return false;
  if (fits()) {
    all.taken_ += wanted - taken_;
    taken_ = wanted;
  } else {
    all.long_ = is_long_ = true;
  }
  return true;
}

AnswerBudget::Share::~Share() {
  if (taken_ == 0 && !is_long_) return;
  absl::MutexLock lock(&budget_.mutex_);
  budget_.taken_ -= taken_;
  if (is_long_) budget_.long_ = false;
}

}  // namespace flyball::adapter::prometheus
