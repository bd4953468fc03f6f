// What observers are told of autoscalers at rest. An autoscaler rests while nothing changes that
// its decision depends on, so that it would be decided the same again and again. It is not decided
// by itself then: autoscalers of one namespace and period form a group (steady/rest_group.h), and
// each round in which their inputs are found unchanged counts as one decision of each. Rounds are
// counted once for the group; an observer works out a member's decisions when somebody asks for
// them.
//
// Thread-safe: one writer, any number of readers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "scaler/stores/managed.h"

namespace flyball::scaler {

// The rounds of a group, in each of which all its members were decided.
class Rest {
 public:
  void AddRound(absl::Time now) {
    last_.store(absl::ToUnixNanos(now), std::memory_order_relaxed);
    rounds_.fetch_add(1, std::memory_order_release);
  }
  uint64_t rounds() const { return rounds_.load(std::memory_order_acquire); }
  // Wall time of the last round.
  absl::Time last() const { return absl::FromUnixNanos(last_.load(std::memory_order_relaxed)); }

 private:
  std::atomic<uint64_t> rounds_ = 0;
  std::atomic<int64_t> last_ = 0;
};

// One member's part in its group: the rounds since it came to rest.
struct RestShare {
  std::shared_ptr<const Rest> rest;  // nullptr: it does not rest
  uint64_t from = 0;                 // rest->rounds() when it came to rest

  uint64_t rounds() const { return rest == nullptr ? 0 : rest->rounds() - from; }
};

// The members of a group that the self-metrics count alike.
struct RestKind {
  AutoscalerKind kind = AutoscalerKind::kHpa;
  std::vector<std::string> metric_types;  // as the specs write them
  size_t members = 0;
};

// One round of a group, as observers see it. All members are in mode act.
struct RestRound {
  const Rest* rest = nullptr;
  absl::Span<const RestKind> kinds;
  absl::Time time;
  std::optional<absl::Time> newest_sample;
  absl::Duration took;
};

}  // namespace flyball::scaler
