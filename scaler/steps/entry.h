// One autoscaler in the loop: what is known of it and the decision that is being made.
//
// `latest`, `gone`, `busy`, `again` and the slots belong to the loop's lock. Everything else
// belongs to whoever carries out the present cycle: one thread after the other, never two at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "kube/client/scale.h"
#include "kube/objects/rest_mapping.h"
#include "scaler/math/decision.h"
#include "scaler/math/input.h"
#include "scaler/questions/plan.h"
#include "scaler/questions/question_board.h"
#include "scaler/steps/schedule.h"
#include "scaler/stores/managed.h"
#include "scaler/stores/pod_index.h"
#include "scaler/stores/scale_store.h"
#include "scaler/triggers/activation.h"
#include "scaler/views/status_writer.h"

namespace flyball::scaler {

// Where the target's scale is read, found anew when the spec or the known kinds change.
struct ScaleTarget {
  std::shared_ptr<const kube::RestMapper> mapper;  // that it was found with
  ScaleAnswer failure;                             // apiVersion or kind that leads nowhere
  kube::ResourceInfo resource;
  ScaleStore::Place place;         // of a kind that is watched
  QuestionBoard::Handle question;  // of any other, or while the watch is broken
};

// The scale as read, and the selector in it.
struct ScaleReading {
  std::shared_ptr<const kube::Scale> scale;  // nullptr: not known
  uint64_t version = 0;                      // of the slot that it was taken from
  ScaleAnswer answer;
  std::optional<kube::Selector> selector;  // of answer.selector; nullopt: empty or not parsable
  std::string selector_error;
};

// What has become of the status.
struct StatusMarks {
  StatusWriter::SlotPtr slot;             // made when a status is first written
  ManagedPtr seen;                        // whose stored status the marks were last compared with
  uint64_t cared = 0;                     // CaredDigest of what is stored or on its way
  uint64_t failure = 0;                   // FailureDigest of the same
  std::optional<absl::Time> last_active;  // the same
  bool stale = false;  // what is stored or on its way is not what was decided last
  MonotonicTime offered_at = -absl::InfiniteDuration();
  MonotonicTime due = -absl::InfiniteDuration();  // when what was offered last may be written
};

// A scale write that was sent and not answered well: it may have had its effect.
struct UnconfirmedWrite {
  int32_t from = 0, to = 0;
  absl::Time time;  // wall time at which it was sent
};

enum class CyclePhase { kReadingScale, kReadingMetrics };

// Waits for the answers of a cycle: of one autoscaler, or of many that rest together.
struct CycleWaiter : public AnswerWaiter {
  explicit CycleWaiter(bool waits_for_many) : of_many(waits_for_many) {}
  bool Answered() override { return pending.fetch_sub(1) == 1; }

  const bool of_many;            // a RestGroup, else an Entry
  std::atomic<int> pending = 0;  // answers that are awaited, plus one while more are asked for
};

struct RestGroup;

struct Entry : public CycleWaiter, public Schedule::Item {
  explicit Entry(AutoscalerKey entry_key)
      : CycleWaiter(/*waits_for_many=*/false), key(std::move(entry_key)) {}

  const AutoscalerKey key;

  // ---- under the loop's lock
  ManagedPtr latest;
  bool gone = false;                            // the object exists no more
  bool busy = false;                            // a cycle is under way
  bool again = false;                           // was woken meanwhile
  bool woken = false;                           // answers of before do not count
  bool recreated = false;                       // under the same name, since the last cycle
  absl::Duration slots = absl::ZeroDuration();  // between regular ones
  MonotonicTime regular_slot = absl::ZeroDuration();
  RestGroup* group_at_rest = nullptr;  // it is decided with that one, and not due by itself

  // ---- of the cycle
  CyclePhase phase = CyclePhase::kReadingScale;
  MonotonicTime began = absl::ZeroDuration();
  MonotonicTime not_before = absl::ZeroDuration();  // older answers do not count
  absl::Duration pace = absl::ZeroDuration();       // the next cycle begins this much later at most
  ManagedPtr managed;
  Mode mode = Mode::kShadow;
  bool status_is_old = false;  // of an object that is no more
  Plan plan;
  uint64_t planned_hash = 0;  // managed.spec_hash that plan and target were made for
  ScaleTarget target;
  ScaleReading scale;
  bool reads_metrics = false;

  SelectedPods* group = nullptr;  // of scale.selector; nullptr: to be selected
  uint64_t noted_plan = 0;        // plan.version whose questions know the selector
  PodView view;
  uint64_t view_plan = 0;  // plan.version that the view was made for
  PodsAnswer pods;

  std::vector<Reading> readings;  // by metric of the plan...
  uint64_t readings_plan = 0;     // ...with this version
  std::vector<uint64_t> answers;  // versions that they were made of
  uint64_t last_reading = 0;      // the newest version given to a reading
  uint64_t readings_pods = 0;     // pods.version that they were made with
  bool pods_changed = false;
  std::vector<TriggerReading> trigger_readings;  // of all triggers
  std::vector<uint64_t> trigger_answers;         // versions that they are of, by trigger
  bool triggers_changed = false;                 // since the last decision

  Decision decision;
  AutoscalerStatus status;  // after the last decision, as it should be stored
  bool decided = false;     // at least once: status and decision.state are ours
  bool restored = false;    // what an earlier owner remembered was asked for
  Mode decided_mode = Mode::kShadow;
  uint64_t decided_plan = 0;  // plan.version
  MonotonicTime decided_at = -absl::InfiniteDuration();
  absl::Duration wall_offset = absl::ZeroDuration();  // wall - monotonic, at the last decision
  std::optional<int32_t> seen_replicas;               // of the scale, at the last decision
  std::optional<Activation> activation;
  std::optional<absl::Time> last_active;
  bool unchanged = false;

  bool scale_written = false;
  std::string scale_error;  // of a write that was tried
  std::optional<UnconfirmedWrite> unconfirmed;
  bool dropped = false;      // the write was given up
  bool decide_anew = false;  // as the scale is another one than the decision was made from
  StatusMarks marks;
  bool status_offered = false;

  uint64_t ownership_epoch = 0;  // that `restored` belongs to
};

}  // namespace flyball::scaler
