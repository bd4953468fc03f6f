// Limits repeated log lines to one, or another number, in each interval for each key.
//
// Thread-safe. An interval begins with its first line. Limits: 1000 keys, compared by their first
// 256 bytes; if there are more, the least recently used one is forgotten.
#pragma once

#include <cstddef>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/recently_used.h"

namespace flyball {

// For lines that whoever may change the objects of one namespace can cause: how many of them in a
// minute, and how much of each.
inline constexpr int kNamespaceLines = 16;
inline constexpr size_t kNamespaceLineBytes = 500;

class LogLimiter {
 public:
  LogLimiter(Clock& clock, absl::Duration interval, int lines = 1)
      : clock_(clock), interval_(interval), lines_(lines) {}

  bool Due(absl::string_view key) {
    constexpr size_t kMaxKeys = 1000;
    constexpr size_t kMaxKeyBytes = 256;
    const MonotonicTime now = clock_.MonotonicNow();
    absl::MutexLock lock(&mutex_);
    Lines& of = logged_[key.substr(0, kMaxKeyBytes)];
    if (logged_.size() > kMaxKeys) logged_.EraseOldest();
    if (now >= of.end) of = {.end = now + interval_};
    if (of.count >= lines_) return false;
    ++of.count;
    return true;
  }

 private:
  // The lines of one key in its interval.
  struct Lines {
    MonotonicTime end = -absl::InfiniteDuration();
    int count = 0;
  };

  Clock& clock_;
  const absl::Duration interval_;
  const int lines_;
  absl::Mutex mutex_;
  RecentlyUsed<Lines> logged_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace flyball
