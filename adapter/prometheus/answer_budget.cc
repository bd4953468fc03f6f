#include "adapter/prometheus/answer_budget.h"

#include <algorithm>

namespace flyball::adapter::prometheus {
namespace {

// An answer comes in pieces of some kilobytes; the lock is not taken for each of them.
constexpr size_t kStep = 32 << 10;

}  // namespace

bool AnswerBudget::Share::GrowTo(size_t bytes) {
  if (bytes <= std::max(taken_, kFreeBytes)) return true;
  const size_t more = bytes - taken_ + kStep;
  AnswerBudget& all = budget_;
  const auto fits = [&all, more]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return all.taken_ + more <= all.limit_;
  };
  const auto may_grow = [&all, &fits, this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return fits() || all.beyond_limit_ == nullptr || all.beyond_limit_ == this;
  };
  absl::MutexLock lock(&all.mutex_);
  if (!all.clock_.Await(all.mutex_, absl::Condition(&may_grow), deadline_)) return false;
  if (!fits()) all.beyond_limit_ = this;
  all.taken_ += more;
  taken_ += more;
  return true;
}

AnswerBudget::Share::~Share() {
  if (taken_ == 0) return;
  absl::MutexLock lock(&budget_.mutex_);
  budget_.taken_ -= taken_;
  if (budget_.beyond_limit_ == this) budget_.beyond_limit_ = nullptr;
}

}  // namespace flyball::adapter::prometheus
