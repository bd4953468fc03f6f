// A bounded map whose values expire. If it is full, the least recently used value is dropped.
//
// Thread-safe. Time is passed in. Limits: entries, and bytes as counted by the callers. With
// several stripes (base/striped.h) each has its part of both limits. An expired value is dropped
// when it is asked for; a Put drops all expired ones, at most once a second.
#pragma once

#include <optional>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"
#include "base/clock.h"
#include "base/recently_used.h"
#include "base/striped.h"

namespace flyball {

template <typename Value, size_t kStripes = 1>
class ExpiringCache {
 public:
  // 0 entries: nothing is ever kept.
  ExpiringCache(size_t max_entries, size_t max_bytes)
      : max_entries_((max_entries + kStripes - 1) / kStripes), max_bytes_(max_bytes / kStripes) {}

  std::optional<Value> Get(absl::string_view key, MonotonicTime now) {
    const auto part = parts_.Lock(absl::HashOf(key));
    const CachedValue* cached = part->values.Find(key);
    if (cached == nullptr) return std::nullopt;
    if (now < cached->until) return cached->value;
    part->Drop(key, *cached);
    return std::nullopt;
  }

  // `bytes`: the approximate size of the value. A value larger than the whole limit is not kept.
  void Put(absl::string_view key, Value value, size_t bytes, MonotonicTime now,
           MonotonicTime until) {
    const auto part = parts_.Lock(absl::HashOf(key));
    if (const CachedValue* old = part->values.Find(key)) part->Drop(key, *old);
    if (now >= part->next_look) part->DropExpired(now);
    bytes += key.size();
    if (bytes > max_bytes_ || max_entries_ == 0) return;
    while (part->values.size() >= max_entries_ || part->bytes + bytes > max_bytes_) {
      part->bytes -= part->values.oldest().bytes;
      part->values.EraseOldest();
    }
    part->values[key] = {std::move(value), bytes, until};
    part->bytes += bytes;
  }

  void DropExpired(MonotonicTime now) {
    parts_.ForEach([now](KeyPart& part) { part.DropExpired(now); });
  }

  size_t size() const {
    size_t sum = 0;
    parts_.ForEach([&sum](const KeyPart& part) { sum += part.values.size(); });
    return sum;
  }
  size_t bytes() const {
    size_t sum = 0;
    parts_.ForEach([&sum](const KeyPart& part) { sum += part.bytes; });
    return sum;
  }

 private:
  struct CachedValue {
    Value value;
    size_t bytes = 0;
    MonotonicTime until;
  };
  // The keys and values of one stripe.
  struct KeyPart {
    RecentlyUsed<CachedValue> values;
    size_t bytes = 0;
    MonotonicTime next_look = -absl::InfiniteDuration();

    void Drop(absl::string_view key, const CachedValue& cached) {
      bytes -= cached.bytes;
      values.Erase(key);
    }
    void DropExpired(MonotonicTime now) {
      next_look = now + absl::Seconds(1);
      values.EraseIf([&](const CachedValue& cached) {
        if (now < cached.until) return false;
        bytes -= cached.bytes;
        return true;
      });
    }
  };

  const size_t max_entries_, max_bytes_;  // of one stripe
  Striped<KeyPart, kStripes> parts_;
};

}  // namespace flyball
