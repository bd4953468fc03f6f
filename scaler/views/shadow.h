// Finds out whether the stock controller decides what we decide: compares each status that it
// writes with our decisions on the same HorizontalPodAutoscaler.
//
// The two decide at different moments, up to a sync period apart. So a status counts as equal if
// one of our decisions, from `period` + `slack` before it to as long after it, agrees in the
// desired count, or holds for the same reason (neither side knows the scale, or the readings).
// Until that time is over the comparison is open. If no decision agrees, the status counts as
// different. Its reason is then the first of these that is true of our decision nearest in time:
//   unknown     we did not know the readings or the scale, and held
//   scale       the two saw different current counts
//   lag         the status is what we decided before the window began
//   readings    the two read different values
//   conditions  the readings are the same but the conditions differ: one side is held or limited by
//               something that the other does not remember
//   other       none of these
//
// Autoscalers that this replica never decided, or does not decide any more, are not compared here:
// another replica does that. Nor are those that it decides in another mode.
//
// Thread-safe. Limits: 16 runs of equal decisions and the last 5 differences for each object.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "scaler/views/decision_record.h"

namespace flyball::scaler {

enum class ShadowReason { kUnknown, kScale, kLag, kReadings, kConditions, kOther };
inline constexpr const char* kShadowReasonNames[] = {"unknown",  "scale",      "lag",
                                                     "readings", "conditions", "other"};
inline constexpr size_t kShadowReasons = std::size(kShadowReasonNames);

// What one side decided.
struct ShadowSide {
  int32_t current = 0, desired = 0;
  bool known = true;                    // set on our side only: readings and scale were known
  std::vector<int64_t> metrics;         // measured, thousandths or percent; in order of the spec
  std::vector<std::string> conditions;  // "ScalingLimited=True TooManyReplicas", sorted
  std::string failure;  // the condition that says why nothing could be decided; "": there is none
};

struct ShadowDifference {
  absl::Time time;  // when the stock controller's status was seen
  ShadowReason reason = ShadowReason::kOther;
  ShadowSide theirs;
  std::optional<ShadowSide> ours;  // nearest in time
  std::string detail;              // "readings 12.5 / 14"
};

struct ShadowCounts {
  uint64_t equal = 0;
  std::array<uint64_t, kShadowReasons> different = {};
  uint64_t DifferentInAll() const;
};

struct ShadowObject {
  AutoscalerKey key;
  ShadowCounts counts;
  bool open = false;                   // a comparison waits for our next decision
  std::vector<ShadowDifference> last;  // newest last
};

struct ShadowReport {
  ShadowCounts counts;                // of all objects, also those that are gone
  std::vector<ShadowObject> objects;  // by key
};

struct ShadowOptions {
  absl::Duration period = absl::Seconds(15);
  absl::Duration slack = absl::Seconds(5);
};

class Shadow : public DecisionObserver {
 public:
  Shadow(ShadowOptions options, Clock& clock) : options_(options), clock_(clock) {}

  void OnDecision(const DecisionRecord& record) override;
  void OnForeignStatus(const ManagedPtr& managed) override;
  void OnForgotten(const AutoscalerKey& key) override;

  ShadowReport Report() const;
  ShadowCounts counts() const;

 private:
  // Decisions in a row that are equal for a comparison; `side` is that of the last.
  struct Run {
    absl::Time first, last;
    ShadowSide side;
  };
  struct Open {
    absl::Time time;
    ShadowSide theirs;
  };
  struct Object {
    std::deque<Run> runs;
    std::optional<Open> open;
    ShadowCounts counts;
    std::deque<ShadowDifference> last;
  };

  absl::Duration Window() const { return options_.period + options_.slack; }
  bool Agrees(const Object& object, const Open& open) const;
  void Judge(Object& object) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CountEqual(Object& object) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const ShadowOptions options_;
  Clock& clock_;
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<AutoscalerKey, Object> objects_ ABSL_GUARDED_BY(mutex_);
  ShadowCounts counts_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace flyball::scaler
