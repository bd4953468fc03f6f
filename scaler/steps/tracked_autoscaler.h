// One autoscaler in the loop: what is known of it and the decision that is being made. A cycle is
// one pass over it: its inputs are read, it is decided, and the decision is carried out.
//
// Threads: the first fields, as marked, are used under the loop's lock. Everything else belongs to
// the thread that works on the present cycle: one after the other, never two at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
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
#include "scaler/views/steadiness.h"

namespace flyball::scaler {

// Where the target's scale is read. It is found anew when the spec or the kinds of the cluster
// change.
struct ScaleTarget {
  std::shared_ptr<const kube::RestMapper> mapper;  // the kinds that it was found with
  ScaleAnswer failure;                             // set when there is no such apiVersion or kind
  kube::ResourceInfo resource;
  ScaleStore::Place place;         // for kinds that are watched
  QuestionBoard::Handle question;  // for other kinds, and while the watch is broken
};

// The scale as read, and the selector in it.
struct ScaleReading {
  std::shared_ptr<const kube::Scale> scale;  // nullptr: not known
  uint64_t version = 0;                      // ScaleStore::ObjectScale::version when it was taken
  ScaleAnswer answer;
  std::optional<kube::Selector> selector;  // of answer.selector; nullopt: empty or not parsable
  std::string selector_error;
};

// What is known of the status that is stored, or on its way to the API server, so that only news
// are written.
struct StatusMarks {
  StatusWriter::OutboxPtr outbox;         // made when a status is first written
  ManagedPtr seen;                        // the object whose stored status the marks are of
  uint64_t cared = 0;                     // CaredDigest of what is stored or on its way
  uint64_t failure = 0;                   // FailureDigest of the same
  std::optional<absl::Time> last_active;  // what is stored or on its way says of it
  bool stale = false;                     // what is stored or on its way was decided earlier
  MonotonicTime offered_at = -absl::InfiniteDuration();
  MonotonicTime due = -absl::InfiniteDuration();  // when the status offered last may be written
};

// A scale write that was sent and got no good answer: it may have had its effect.
struct UnconfirmedWrite {
  int32_t from = 0, to = 0;
  absl::Time time;  // wall time at which it was sent
};

// What a steady autoscaler was decided on (steady/steady_step.h). It is kept close together, since
// it is compared with what is now each time the autoscaler is due.
struct SteadyInputs {
  const ScaleStore::ObjectScale* scale = nullptr;
  uint64_t scale_version = 0;
  const SelectedPods* pods = nullptr;
  uint64_t pods_version = 0;
  struct Read {
    const QuestionBoard::Part* part = nullptr;
    uint64_t version = 0;  // of its answer
  };
  absl::InlinedVector<Read, 2> reads;             // by metric
  absl::InlinedVector<const void*, 2> questions;  // of these parts, each once
  absl::Time until;                               // from then on time alone may change the decision
  uint64_t ownership_epoch = 0;
  const SteadyKind* kind = nullptr;
  // ---- of the last round
  MonotonicTime decided_at = absl::ZeroDuration();
  absl::Duration wall_offset = absl::ZeroDuration();
  std::shared_ptr<Steadiness> rounds;
};

enum class CyclePhase { kReadingScale, kReadingMetrics };

// Waits for the answers of one autoscaler's cycle, or of a round of many that are steady
// (steady/steady_round.h).
struct CycleWaiter : public AnswerWaiter {
  explicit CycleWaiter(bool waits_for_many) : of_many(waits_for_many) {}
  bool Answered() override { return pending.fetch_sub(1) == 1; }

  const bool of_many;            // a SteadyRound, else a TrackedAutoscaler
  std::atomic<int> pending = 0;  // answers that are awaited, plus one while more are asked for
};

struct TrackedAutoscaler : public CycleWaiter, public Schedule::Item {
  explicit TrackedAutoscaler(AutoscalerKey its_key)
      : CycleWaiter(/*waits_for_many=*/false), key(std::move(its_key)) {}

  const AutoscalerKey key;

  // ---- under the loop's lock
  ManagedPtr latest;
  bool gone = false;       // the object exists no more
  bool busy = false;       // a cycle is under way
  bool again = false;      // it was woken during the cycle: another one follows at once
  bool woken = false;      // the next cycle must ask anew: earlier answers do not count
  bool recreated = false;  // since the last cycle the object was made anew under the same name
  absl::Duration latest_slots =
      absl::ZeroDuration();                     // time between two regular cycles, by `latest`
  absl::Duration slots = absl::ZeroDuration();  // the same, of `regular_slot`
  MonotonicTime regular_slot = absl::ZeroDuration();  // when the next regular cycle is due
  bool steady = false;                                // it was when its last cycle or round ended

  // ---- of the cycle
  CyclePhase phase = CyclePhase::kReadingScale;
  MonotonicTime began = absl::ZeroDuration();
  MonotonicTime not_before = absl::ZeroDuration();  // answers asked for earlier do not count
  absl::Duration pace = absl::ZeroDuration();  // the next cycle begins no later than after this
  ManagedPtr managed;
  Mode mode = Mode::kShadow;
  bool status_is_old = false;  // `status` is that of an earlier object of the same name
  Plan plan;
  uint64_t planned_hash = 0;  // managed->spec_hash when `target` was found
  ScaleTarget target;
  ScaleReading scale;
  bool reads_metrics = false;

  SelectedPods* group = nullptr;  // pods of scale.selector; nullptr: they have to be selected
  uint64_t noted_plan = 0;        // version of the plan whose questions know the selector
  PodView view;
  uint64_t view_plan = 0;  // version of the plan that `view` was made for
  PodsAnswer pods;

  std::vector<Reading> readings;  // by metric of the plan...
  uint64_t readings_plan = 0;     // ...that had this version
  std::vector<uint64_t> answers;  // by metric: version of the answer that the reading was made of
  uint64_t last_reading = 0;      // the highest Reading::version given so far
  uint64_t readings_pods = 0;     // pods.version that the readings were made with
  std::string pods_failure;  // why the watch of pods failed when they were read; "": it did not
  bool pods_changed = false;
  std::vector<TriggerReading> trigger_readings;  // of all triggers
  std::vector<uint64_t> trigger_answers;         // by trigger: version of the answer they are of
  bool triggers_changed = false;                 // since the last decision

  Decision decision;
  AutoscalerStatus status;  // after the last decision, as it should be stored
  bool decided = false;     // at least once, so that `status` and decision.state are our own
  bool restored = false;    // Ownership::Restore was asked for what an earlier owner remembered
  Mode decided_mode = Mode::kShadow;
  uint64_t decided_plan = 0;  // version of the plan at the last decision
  MonotonicTime decided_at = -absl::InfiniteDuration();
  absl::Duration wall_offset = absl::ZeroDuration();  // wall - monotonic, at the last decision
  std::optional<int32_t> seen_replicas;               // of the scale, at the last decision
  std::optional<Activation> activation;
  std::optional<absl::Time> last_active;
  bool unchanged = false;  // the last decision stands (DecideStep::Decide)

  std::unique_ptr<SteadyInputs> steady_on;  // nullptr: it is not steady
  bool not_steady = false;  // since this slot: it was woken, or the object is another

  bool scale_written = false;
  std::string scale_error;  // of a scale write that was tried and failed
  std::optional<UnconfirmedWrite> unconfirmed;
  bool dropped = false;      // the decision was dropped instead of written (act_step.h)
  bool decide_anew = false;  // it was made from what is true no more: another cycle follows at once
  StatusMarks marks;
  bool status_offered = false;

  uint64_t ownership_epoch = 0;  // the loop's, when `restored` was last reset
};

}  // namespace flyball::scaler
