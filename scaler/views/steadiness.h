// What observers are told of steady autoscalers. An autoscaler is steady while its decision stays
// the same until one of its inputs changes (steady/steady_step.h). It is not decided then: each
// round in which its inputs are found unchanged counts as one more decision like the last one.
//
// Thread-safe: one writer at a time, any number of readers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/clock.h"
#include "scaler/stores/managed.h"

namespace flyball::scaler {

// The rounds of one autoscaler since it became steady; or how often one with onSample has read the
// same since its last decision, which is decided anew only on news.
class Steadiness {
 public:
  // `sampled`: when the oldest of the answers that it reads was sampled; InfinitePast: unknown.
  void AddRound(absl::Time now, MonotonicTime at, absl::Time sampled) {
    last_.store(absl::ToUnixNanos(now), std::memory_order_relaxed);
    sampled_.store(absl::ToUnixNanos(sampled), std::memory_order_relaxed);
    last_at_.store(absl::ToInt64Nanoseconds(at), std::memory_order_relaxed);
    // There is only one writer, so no atomic addition is needed, which would wait for the memory of
    // each autoscaler.
    rounds_.store(rounds_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  uint64_t rounds() const { return rounds_.load(std::memory_order_acquire); }
  // When the last round was.
  absl::Time last() const { return absl::FromUnixNanos(last_.load(std::memory_order_relaxed)); }
  absl::Time sampled() const {
    const int64_t nanos = sampled_.load(std::memory_order_relaxed);
    return nanos == kNever ? absl::InfinitePast() : absl::FromUnixNanos(nanos);
  }
  MonotonicTime last_at() const {
    return absl::Nanoseconds(last_at_.load(std::memory_order_relaxed));
  }

 private:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::min();  // InfinitePast as nanos

  std::atomic<uint64_t> rounds_ = 0;
  std::atomic<int64_t> last_ = 0;
  std::atomic<int64_t> last_at_ = 0;
  std::atomic<int64_t> sampled_ = kNever;
};
using SteadinessPtr = std::shared_ptr<const Steadiness>;

// A kind of autoscalers that have the same labels in the self-metrics. All are in mode act.
struct SteadyKind {
  AutoscalerKind kind = AutoscalerKind::kHpa;
  std::vector<std::string> metric_types;  // as the specs write them
  friend bool operator==(const SteadyKind&, const SteadyKind&) = default;
};

// One round of a group of steady autoscalers.
struct RoundRecord {
  struct Count {
    const SteadyKind* kind = nullptr;
    size_t autoscalers = 0;
  };
  absl::Span<const AutoscalerKey* const> keys;  // the autoscalers that were found unchanged
  absl::Span<const Count> kinds;                // of the same
  absl::Time time;
  std::optional<absl::Time> newest_sample;
  absl::Duration took;
};

}  // namespace flyball::scaler
