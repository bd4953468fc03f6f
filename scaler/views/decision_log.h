// The last decisions of each autoscaler, for `flyball explain`.
//
// An entry stands for a run of decisions that concluded the same (outcome, counts, what limited
// them, conditions, errors, mode), with the first and last time and how many there were; its
// numbers are those of the last one. So the ring reaches back over changes, not over ticks.
//
// Thread-safe; the autoscalers are spread over 16 locks.
// Limits:  `entries` and `bytes` for each autoscaler (the newest entry always stays), and
//          `autoscalers`: with the defaults 10,000 take 30 MB when all of them change all the time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "scaler/views/decision_log_codec.h"
#include "scaler/views/decision_record.h"

namespace flyball::scaler {

struct DecisionLogOptions {
  size_t entries = 16;
  size_t bytes = 3000;
  size_t samples = 12;  // of pods, for each decision
  size_t autoscalers = 50000;
};

// What an autoscaler's last decision concluded, for a list of them.
struct DecisionSummary {
  AutoscalerKey key;
  Mode mode = Mode::kShadow;
  Outcome outcome = Outcome::kScaleUnknown;
  int32_t current = 0, desired = 0;
  absl::Time first, last;
  uint64_t times = 0;
  std::string error;
};

class DecisionLog : public DecisionObserver {
 public:
  explicit DecisionLog(DecisionLogOptions options = {}) : options_(options) {}

  void OnDecision(const DecisionRecord& record) override;
  void OnForgotten(const AutoscalerKey& key) override;
  void OnRest(const AutoscalerKey& key, int32_t recommendation, const RestShare& share) override;
  void OnRestOver(const AutoscalerKey& key) override;

  // The kept decisions of an autoscaler, newest first; empty: none is known.
  std::vector<LoggedDecision> Last(const AutoscalerKey& key) const;
  // The newest decision of each autoscaler, sorted by key; `ns` "" is all.
  std::vector<DecisionSummary> List(const std::string& ns) const;

  struct Stats {
    size_t autoscalers = 0, entries = 0, bytes = 0;
    uint64_t refused = 0;  // decisions of autoscalers beyond the limit
  };
  Stats stats() const;

 private:
  struct EncodedDecisions {
    absl::Time first, last;
    uint64_t times = 1;
    uint64_t conclusion = 0;
    uint32_t spec = 0;  // number of the spec in Ring::specs
    std::string bytes;
  };
  // One autoscaler's entries, oldest first. A vector, since there are many rings and most have few.
  struct Ring {
    std::vector<EncodedDecisions> entries;
    std::vector<std::pair<uint32_t, ManagedPtr>> specs;  // those that entries were decided on
    RestShare rest;  // the decisions at rest, which the newest entry does not count yet
  };
  struct Part {
    mutable absl::Mutex mutex;
    absl::flat_hash_map<AutoscalerKey, Ring> rings ABSL_GUARDED_BY(mutex);
    uint64_t refused ABSL_GUARDED_BY(mutex) = 0;
  };

  Part& PartOf(const AutoscalerKey& key) const;
  void Trim(Ring& ring) const;
  static void CountRest(Ring& ring);
  static uint32_t NumberOfSpec(const ManagedPtr& managed, Ring& ring);

  const DecisionLogOptions options_;
  mutable std::array<Part, 16> parts_;
};

// Whether both have the same spec; status and metadata are not looked at.
bool SameSpec(const Autoscaler& a, const Autoscaler& b);

}  // namespace flyball::scaler
