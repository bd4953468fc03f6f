// A bounded map whose entries end by themselves; the least recently used goes first.
//
// Thread-safe. Time is passed in.
#pragma once

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
  explicit ExpiringCache(size_t max_entries) : max_entries_(max_entries) {}

  std::optional<Value> Get(absl::string_view key, MonotonicTime now) {
    absl::MutexLock lock(&mutex_);
    const auto found = index_.find(key);
    if (found == index_.end()) return std::nullopt;
    if (found->second->until <= now) {
      entries_.erase(found->second);
      index_.erase(found);
      return std::nullopt;
    }
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->value;
  }

  void Put(absl::string_view key, Value value, MonotonicTime until) {
    absl::MutexLock lock(&mutex_);
    if (const auto found = index_.find(key); found != index_.end()) {
      found->second->value = std::move(value);
      found->second->until = until;
      return;
    }
    while (index_.size() >= max_entries_ && !entries_.empty()) {
      index_.erase(entries_.back().key);
      entries_.pop_back();
    }
    entries_.push_front({std::string(key), std::move(value), until});
    index_[entries_.front().key] = entries_.begin();
  }

  size_t size() const {
    absl::MutexLock lock(&mutex_);
    return index_.size();
  }

 private:
  struct Entry {
    std::string key;
    Value value;
    MonotonicTime until;
  };
  const size_t max_entries_;
  mutable absl::Mutex mutex_;
  std::list<Entry> entries_ ABSL_GUARDED_BY(mutex_);  // most recently used first
  // Keys are views of the entries' own.
  absl::flat_hash_map<absl::string_view, typename std::list<Entry>::iterator> index_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace flyball::apiservice
