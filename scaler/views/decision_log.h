// The last decisions of each autoscaler, for `flyball explain`.
//
// An entry stands for a run of decisions of one spec that concluded the same (outcome, counts, what
// limited them, conditions, errors, mode), with the first and last time and how many there were;
// its numbers are those of the last one. So the log holds the last changes, not the last decisions.
// Conditions and events, and the names of the pods, are stored once for all entries in which they
// are equal, so that twice as many decisions fit.
//
// Thread-safe; the autoscalers are spread over 16 locks.
// Limits:  `entries` and `bytes` for each autoscaler (the newest entry always stays), and
//          `autoscalers`. With the defaults 10,000 of 10 pods each take 30 MB when all of them
//          change all the time: six decisions of 500 bytes each. Logging one takes about 5 us.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "base/striped.h"
#include "scaler/stores/shared_pool.h"
#include "scaler/views/decision_record.h"
#include "scaler/views/logged_decision.h"

namespace flyball::scaler {

struct DecisionLogOptions {
  size_t entries = 16;
  size_t bytes = 3000;
  size_t samples = 12;  // how many pods' samples are kept of each decision
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
  void OnSteady(const AutoscalerKey& key, int32_t recommendation,
                const SteadinessPtr& steadiness) override;

  // The kept decisions of an autoscaler, newest first; empty: none is known.
  std::vector<LoggedDecision> Last(const AutoscalerKey& key) const;
  // Calls `visit` with the newest decision of each autoscaler, in any order, under a lock: it must
  // not call back.
  void ForEachNewest(
      absl::FunctionRef<void(const AutoscalerKey&, const LoggedDecision&)> visit) const;
  // The newest decision of each autoscaler, sorted by key; `ns` "" is all.
  std::vector<DecisionSummary> List(const std::string& ns) const;

  struct Stats {
    size_t autoscalers = 0, entries = 0, bytes = 0;
    uint64_t refused = 0;  // decisions of autoscalers beyond the limit
  };
  Stats stats() const;

 private:
  using SharedBytes = std::shared_ptr<const std::string>;
  struct Run {
    absl::Time first, last;
    absl::Time sampled = absl::InfinitePast();  // LoggedDecision::sampled
    uint64_t times = 0;
    uint64_t concluded = 0;  // a hash of what was concluded
    ManagedPtr managed;      // the newest one with the spec that was decided on
    std::string values;
    SharedBytes conclusion, pods;

    size_t bytes() const;
  };
  struct LoggedAutoscaler {
    std::vector<Run> runs;     // oldest first
    SteadinessPtr steadiness;  // its rounds are not in the newest run's count yet; may be null
  };
  // A part of the autoscalers.
  struct LoggedAutoscalers {
    absl::flat_hash_map<AutoscalerKey, LoggedAutoscaler> by_key;
    SharedPool<std::string> pool;
    uint64_t refused = 0;
  };

  Striped<LoggedAutoscalers>::Locked PartOf(const AutoscalerKey& key) const;
  bool CountRepeat(const DecisionRecord& record);
  void Trim(std::vector<Run>& runs) const;
  static void CountRounds(const SteadinessPtr& steadiness, Run& newest);
  static void TakeRounds(LoggedAutoscaler& logged);
  static bool IsNewestSpec(const ManagedPtr& managed, std::vector<Run>& runs);
  static LoggedDecision Unpacked(const Run& run);

  const DecisionLogOptions options_;
  Striped<LoggedAutoscalers> logged_;
};

}  // namespace flyball::scaler
