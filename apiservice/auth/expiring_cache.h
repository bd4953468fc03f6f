// A bounded map whose entries end by themselves; the least recently used goes first.
//
// Thread-safe. Time is passed in. Limits: entries, and bytes as the callers count those of values.
// What is out of date is dropped when it is asked for, and by the first Put that comes a second
// after the last such look.
#pragma once

#include <iterator>
#include <list>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"

namespace flyball::apiservice {

template <typename Value>
class ExpiringCache {
 public:
  ExpiringCache(size_t max_entries, size_t max_bytes)
      : max_entries_(max_entries), max_bytes_(max_bytes) {}

  std::optional<Value> Get(absl::string_view key, MonotonicTime now) {
    absl::MutexLock lock(&mutex_);
    const auto found = index_.find(key);
    if (found == index_.end()) return std::nullopt;
    if (found->second->until <= now) {
      Drop(found->second);
      return std::nullopt;
    }
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->value;
  }

  // `bytes`: about what the value takes. One that takes more than all may is not kept.
  void Put(absl::string_view key, Value value, size_t bytes, MonotonicTime now,
           MonotonicTime until) {
    absl::MutexLock lock(&mutex_);
    if (const auto found = index_.find(key); found != index_.end()) Drop(found->second);
    DropExpired(now);
    bytes += key.size();
    if (bytes > max_bytes_) return;
    while (!entries_.empty() && (index_.size() >= max_entries_ || bytes_ + bytes > max_bytes_)) {
      Drop(std::prev(entries_.end()));
    }
    entries_.push_front({std::string(key), std::move(value), bytes, until});
    index_[entries_.front().key] = entries_.begin();
    bytes_ += bytes;
  }

  size_t size() const {
    absl::MutexLock lock(&mutex_);
    return index_.size();
  }

 private:
  struct CachedValue {
    std::string key;
    Value value;
    size_t bytes;
    MonotonicTime until;
  };
  using Place = typename std::list<CachedValue>::iterator;

  void Drop(Place entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    bytes_ -= entry->bytes;
    index_.erase(entry->key);
    entries_.erase(entry);
  }

  void DropExpired(MonotonicTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (now < next_look_) return;
    next_look_ = now + absl::Seconds(1);
    for (Place entry = entries_.begin(); entry != entries_.end();) {
      const Place next = std::next(entry);
      if (entry->until <= now) Drop(entry);
      entry = next;
    }
  }

  const size_t max_entries_, max_bytes_;
  mutable absl::Mutex mutex_;
  std::list<CachedValue> entries_ ABSL_GUARDED_BY(mutex_);  // most recently used first
  // Keys are views of the entries' own.
  absl::flat_hash_map<absl::string_view, Place> index_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  MonotonicTime next_look_ ABSL_GUARDED_BY(mutex_) = -absl::InfiniteDuration();
};

}  // namespace flyball::apiservice
