#include "scaler/shards/shards.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "base/stable_hash.h"

namespace flyball::scaler {
namespace {

// The finalizer of SplitMix64, since the hash alone mixes the last bytes badly.
uint64_t Mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

uint64_t Weight(uint64_t placed, uint64_t candidate) { return Mix(placed ^ Mix(candidate)); }

}  // namespace

int ShardOfNamespace(absl::string_view ns, int shards) {
  if (shards <= 1) return 0;
  const uint64_t hash = StableHash(ns);
  int best = 0;
  uint64_t best_weight = 0;
  for (int shard = 0; shard < shards; ++shard) {
    const uint64_t weight = Weight(hash, static_cast<uint64_t>(shard));
    if (shard == 0 || weight > best_weight) {
      best = shard;
      best_weight = weight;
    }
  }
  return best;
}

int ShardOf(const AutoscalerKey& key, int shards) { return ShardOfNamespace(key.ns, shards); }

std::vector<size_t> AssignShards(int shards, absl::Span<const std::string> members) {
  const size_t count = static_cast<size_t>(shards);
  const size_t most = (count + members.size() - 1) / members.size();
  std::vector<uint64_t> hashes;
  hashes.reserve(members.size());
  for (const std::string& member : members) hashes.push_back(StableHash(member));
  std::vector<size_t> load(members.size(), 0);
  std::vector<size_t> out;
  out.reserve(count);
  std::vector<size_t> ranking(members.size());
  for (size_t shard = 0; shard < count; ++shard) {
    std::iota(ranking.begin(), ranking.end(), size_t{0});
    std::sort(ranking.begin(), ranking.end(), [&](size_t a, size_t b) {
      const uint64_t weight_a = Weight(shard, hashes[a]);
      const uint64_t weight_b = Weight(shard, hashes[b]);
      // Names break a tie, so that the order in which members are listed never matters.
      return weight_a != weight_b ? weight_a > weight_b : members[a] < members[b];
    });
    const auto chosen = std::find_if(ranking.begin(), ranking.end(),
                                     [&](size_t member) { return load[member] < most; });
    ++load[*chosen];
    out.push_back(*chosen);
  }
  return out;
}

}  // namespace flyball::scaler
