#include "scaler/stores/watch_health.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "spdlog/spdlog.h"

namespace flyball::scaler {
namespace {

// A stream that ends without an error is reopened within this time, by which reports of changes may
// be late.
constexpr absl::Duration kLongestOpening = absl::Seconds(1);
constexpr absl::Duration kSilence = absl::Seconds(1);
// Long enough for what was missed to be sent and read, however much it is.
constexpr absl::Duration kLongestCatchingUp = absl::Seconds(10);

}  // namespace

WatchHealth::WatchHealth(absl::string_view what, std::string ns, Clock& clock)
    : ns_(std::move(ns)),
      what_(absl::StrCat(what, ns_.empty() ? "" : " of ", ns_)),
      clock_(clock) {}

void WatchHealth::Listed() {
  absl::MutexLock lock(&mutex_);
  listed_ = true;
  Update();
}

void WatchHealth::StatusChanged(const absl::Status& status) {
  absl::MutexLock lock(&mutex_);
  if (status.ok()) {
    if (std::exchange(said_failing_, false)) {
      spdlog::info("scaler: the watch of {} works again", what_);
    }
    if (failing_since_.has_value()) CatchUp();
    failing_since_.reset();
  } else if (!failing_since_.has_value()) {
    // While the first list of all namespaces is missing nothing is logged here, since Ready reports
    // that. The list of one namespace may fail for good while we are ready, but not because a kind
    // is not defined, which counts as an empty list.
    said_failing_ = listed_ || (!ns_.empty() && !absl::IsNotFound(status));
    if (said_failing_) {
      spdlog::warn("scaler: the watch of {} fails: {}", what_, std::string(status.message()));
    }
    failing_since_ = clock_.MonotonicNow();
  }
  failure_ = status;
  Update();
}

void WatchHealth::CatchUp() {
  const MonotonicTime now = clock_.MonotonicNow();
  catching_up_ = {.since = now, .heard = now};
}

void WatchHealth::Opening() {
  absl::MutexLock lock(&mutex_);
  if (!opening_since_.has_value()) opening_since_ = clock_.MonotonicNow();
  Update();
}

void WatchHealth::Opened() {
  absl::MutexLock lock(&mutex_);
  const bool late =
      opening_since_.has_value() && clock_.MonotonicNow() - *opening_since_ > kLongestOpening;
  opening_since_.reset();
  if (late || catching_up_.has_value()) CatchUp();
  Update();
}

void WatchHealth::Flushed() {
  if (fine()) return;
  absl::MutexLock lock(&mutex_);
  if (catching_up_.has_value()) catching_up_->heard = clock_.MonotonicNow();
}

std::string WatchHealth::Failure() const {
  if (fine()) return "";
  absl::MutexLock lock(&mutex_);
  if (failing_since_.has_value()) {
    return absl::StrCat("the watch of ", what_, " fails: ", failure_.message());
  }
  const MonotonicTime now = clock_.MonotonicNow();
  if (opening_since_.has_value() && now - *opening_since_ > kLongestOpening) {
    return absl::StrCat("the watch of ", what_, " is not open yet");
  }
  if (!catching_up_.has_value()) return "";
  const bool silent = now - catching_up_->heard >= kSilence;
  const bool told_all = silent || now - catching_up_->since >= kLongestCatchingUp;
  if (opening_since_.has_value() || !told_all) {
    return absl::StrCat("the watch of ", what_, " may not have told yet what it has missed");
  }
  catching_up_.reset();
  Update();
  return "";
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
  if (fine()) return absl::OkStatus();
  absl::MutexLock lock(&mutex_);
  if (listed_) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(
      what_, " are not listed yet", failure_.ok() ? "" : absl::StrCat(": ", failure_.message())));
}

bool WatchHealth::Waits() const {
  absl::MutexLock lock(&mutex_);
  return !listed_ && !failing_since_.has_value();
}

}  // namespace flyball::scaler
