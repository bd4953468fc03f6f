// Rendered answers that may be given again to the same question for a short while.
//
// Thread-safe, sharded. An entry holds while its freshness lasts, its provider's epoch is the same
// and, where the body tells the time of day, in the same second. Users are told apart before: the
// cache knows nothing of them. Limits: entries and bytes, least recently used first; what is stale
// goes with the first Put that comes a second after the last such look.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "adapter/provider.h"

namespace flyball::apiservice {

struct CachedResponse {
  std::shared_ptr<const std::string> body;
  std::string content_type;
  std::string content_encoding;  // "" or gzip
  adapter::Freshness freshness;
  std::shared_ptr<const void> provider;  // whose epoch is meant
  int64_t wall_second = kAnySecond;      // of the timestamps that say "now"
  static constexpr int64_t kAnySecond = -1;
  // Set by the one who asks anew once freshness.refresh_at has come.
  mutable std::atomic<bool> asked_anew = false;
};

class ResponseCache {
 public:
  // 0 entries: nothing is ever kept.
  ResponseCache(size_t max_entries, size_t max_bytes);

  // nullptr: not there. Whether it still holds is the caller's question.
  std::shared_ptr<const CachedResponse> Get(absl::string_view key);
  void Put(absl::string_view key, std::shared_ptr<const CachedResponse> response,
           MonotonicTime now);

  size_t bytes() const;

 private:
  static constexpr size_t kShards = 4;
  struct KeyedResponse {
    std::string key;
    std::shared_ptr<const CachedResponse> response;
  };
  struct Shard {
    mutable absl::Mutex mutex;
    std::list<KeyedResponse> entries ABSL_GUARDED_BY(mutex);  // most recently used first
    absl::flat_hash_map<absl::string_view, std::list<KeyedResponse>::iterator> index
        ABSL_GUARDED_BY(mutex);
    size_t bytes ABSL_GUARDED_BY(mutex) = 0;
    MonotonicTime next_look ABSL_GUARDED_BY(mutex) = -absl::InfiniteDuration();
  };
  static void Drop(Shard& shard, std::list<KeyedResponse>::iterator entry)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex);
  static void DropStale(Shard& shard, MonotonicTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex);
  static size_t BytesOf(const KeyedResponse& entry);
  Shard& ShardOf(absl::string_view key);

  const size_t max_entries_;  // of one shard
  const size_t max_bytes_;
  std::array<Shard, kShards> shards_;
};

}  // namespace flyball::apiservice
