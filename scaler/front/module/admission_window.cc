#include "scaler/front/module/admission_window.h"

#include <algorithm>

namespace flyball::front {

bool AdmissionWindow::Admit(uint64_t origin, MonotonicTime now) {
  absl::MutexLock lock(&mutex_);
  while (!admitted_.empty() && admitted_.front().at + limits_.window <= now) admitted_.pop_front();
  const size_t left = limits_.most - admitted_.size();
  if (left == 0) return false;
  const auto same =
      std::count_if(admitted_.begin(), admitted_.end(),
                    [origin](const Admitted& other) { return other.origin == origin; });
  if (static_cast<size_t>(same) >= std::min(left, limits_.most_of_one)) return false;
  admitted_.push_back({.at = now, .origin = origin});
  return true;
}

void AdmissionWindow::Shown() {
  absl::MutexLock lock(&mutex_);
  if (!admitted_.empty()) admitted_.pop_front();
}

}  // namespace flyball::front
