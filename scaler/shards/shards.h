// Determines which shard an autoscaler belongs to, and which replica a shard belongs with.
//
// Pure, and the same in every process: the hash has no seed. It is rendezvous hashing: each process
// ranks all candidates by a hash of (candidate, what is placed) and takes the highest, so that a
// candidate that comes or goes moves only what belongs with it.
//
// Autoscalers of one namespace share a shard, for two reasons: only a replica that decides both of
// two autoscalers knows whether they select the same pods, and it asks equal queries only once.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "scaler/stores/managed.h"

namespace flyball::scaler {

inline constexpr int kMaxShards = 256;

// 0 <= result < `shards`; `shards` is at least 1.
int ShardOf(const AutoscalerKey& key, int shards);
int ShardOfNamespace(absl::string_view ns, int shards);

// For each shard the index in `members` (not empty, without repetition, in any order) of the
// replica that it belongs with. No replica gets more than ceil(shards / members): a shard whose
// first choice is full goes to the next one.
std::vector<size_t> AssignShards(int shards, absl::Span<const std::string> members);

}  // namespace flyball::scaler
