#include "scaler/loop/watch_health.h"

#include "absl/strings/str_cat.h"

namespace flyball::scaler {

void WatchHealth::Listed() {
  absl::MutexLock lock(&mutex_);
  listed_ = true;
  Update();
}

void WatchHealth::StatusChanged(const absl::Status& status) {
  absl::MutexLock lock(&mutex_);
  if (status.ok()) {
    failing_since_.reset();
  } else if (!failing_since_.has_value()) {
    failing_since_ = clock_.MonotonicNow();
  }
  failure_ = status;
  Update();
}

bool WatchHealth::listed() const {
  absl::MutexLock lock(&mutex_);
  return listed_;
}

bool WatchHealth::failing() const {
  absl::MutexLock lock(&mutex_);
  return failing_since_.has_value();
}

std::string WatchHealth::Unusable() const {
  if (fine()) return "";
  absl::MutexLock lock(&mutex_);
  if (!listed_) {
    return absl::StrCat("the ", what_, " are not listed yet",
                        failure_.ok() ? "" : absl::StrCat(": ", failure_.message()));
  }
  if (!failing_since_.has_value()) return "";
  if (clock_.MonotonicNow() - *failing_since_ <= kStaleAfter) return "";
  return absl::StrCat("the watch of ", what_, " has failed for more than ",
                      absl::FormatDuration(kStaleAfter), ": ", failure_.message());
}

absl::Status WatchHealth::Ready() const {
  absl::MutexLock lock(&mutex_);
  if (listed_) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(
      what_, " are not listed yet", failure_.ok() ? "" : absl::StrCat(": ", failure_.message())));
}

}  // namespace flyball::scaler
