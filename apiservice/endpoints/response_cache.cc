#include "apiservice/endpoints/response_cache.h"

#include <iterator>
#include <utility>

#include "absl/hash/hash.h"

namespace flyball::apiservice {

ResponseCache::ResponseCache(size_t max_entries, size_t max_bytes)
    : max_entries_((max_entries + kShards - 1) / kShards), max_bytes_(max_bytes / kShards) {}

ResponseCache::Shard& ResponseCache::ShardOf(absl::string_view key) {
  return shards_[absl::Hash<absl::string_view>()(key) % kShards];
}

size_t ResponseCache::BytesOf(const KeyedResponse& entry) {
  constexpr size_t kOverhead = 256;
  return entry.key.size() + entry.response->body->size() + kOverhead;
}

void ResponseCache::Drop(Shard& shard, std::list<KeyedResponse>::iterator entry) {
  shard.bytes -= BytesOf(*entry);
  shard.index.erase(entry->key);
  shard.entries.erase(entry);
}

void ResponseCache::DropStale(Shard& shard, MonotonicTime now) {
  if (now < shard.next_look) return;
  shard.next_look = now + absl::Seconds(1);
  for (auto entry = shard.entries.begin(); entry != shard.entries.end();) {
    const auto next = std::next(entry);
    if (entry->response->freshness.fresh_until <= now) Drop(shard, entry);
    entry = next;
  }
}

std::shared_ptr<const CachedResponse> ResponseCache::Get(absl::string_view key) {
  if (max_entries_ == 0) return nullptr;
  Shard& shard = ShardOf(key);
  absl::MutexLock lock(&shard.mutex);
  const auto found = shard.index.find(key);
  if (found == shard.index.end()) return nullptr;
  shard.entries.splice(shard.entries.begin(), shard.entries, found->second);
  return found->second->response;
}

void ResponseCache::Put(absl::string_view key, std::shared_ptr<const CachedResponse> response,
                        MonotonicTime now) {
  if (max_entries_ == 0) return;
  Shard& shard = ShardOf(key);
  absl::MutexLock lock(&shard.mutex);
  if (const auto found = shard.index.find(key); found != shard.index.end()) {
    Drop(shard, found->second);
  }
  DropStale(shard, now);
  KeyedResponse entry = {std::string(key), std::move(response)};
  const size_t bytes = BytesOf(entry);
  if (bytes > max_bytes_) return;
  while (!shard.entries.empty() &&
         (shard.entries.size() >= max_entries_ || shard.bytes + bytes > max_bytes_)) {
    Drop(shard, std::prev(shard.entries.end()));
  }
  shard.entries.push_front(std::move(entry));
  shard.index[shard.entries.front().key] = shard.entries.begin();
  shard.bytes += bytes;
}

size_t ResponseCache::bytes() const {
  size_t sum = 0;
  for (const Shard& shard : shards_) {
    absl::MutexLock lock(&shard.mutex);
    sum += shard.bytes;
  }
  return sum;
}

}  // namespace flyball::apiservice
