// Limits repeated log lines to one in each interval for each key.
//
// Thread-safe. Limits: 1000 keys, compared by their first 256 bytes; if there are more, all are
// forgotten.
#pragma once

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"

namespace flyball {

class LogLimiter {
 public:
  LogLimiter(Clock& clock, absl::Duration interval) : clock_(clock), interval_(interval) {}

  bool Due(absl::string_view key) {
    constexpr size_t kMaxKeys = 1000;
    constexpr size_t kMaxKeyBytes = 256;
    key = key.substr(0, kMaxKeyBytes);
    const MonotonicTime now = clock_.MonotonicNow();
    absl::MutexLock lock(&mutex_);
    if (next_.size() >= kMaxKeys) next_.clear();
    const auto [it, added] = next_.try_emplace(key, now + interval_);
    if (!added && now < it->second) return false;
    it->second = now + interval_;
    return true;
  }

 private:
  Clock& clock_;
  const absl::Duration interval_;
  absl::Mutex mutex_;
  absl::flat_hash_map<std::string, MonotonicTime> next_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace flyball
