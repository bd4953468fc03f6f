// One autoscaler in the loop. A cycle is one pass over it: its inputs are read, it is decided, and
// the decision is carried out.
//
// Threads: DueState is used under the loop's lock. Everything else belongs to the thread that works
// on the present cycle or round: one after the other, never two at once. Between cycles it belongs
// to the thread that begins the next one. All of it lives as long as the autoscaler exists.
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
#include "scaler/steps/live_config.h"
#include "scaler/steps/metric_fallback.h"
#include "scaler/steps/schedule.h"
#include "scaler/stores/managed.h"
#include "scaler/stores/pod_index.h"
#include "scaler/stores/scale_store.h"
#include "scaler/triggers/activation.h"
#include "scaler/views/status_writer.h"
#include "scaler/views/steadiness.h"

namespace flyball::scaler {

struct SteadyGroup;  // steady/steady_group.h

// Whether and when the next cycle is due, and what the watch told since the present one began.
// Everybody who holds the loop's lock reads and changes it, also while a cycle is under way.
struct DueState {
  ManagedPtr latest;           // the object as it is now
  ManagedPtr scheduled;        // the same as its schedules make it, when it was due last
  bool has_schedules = false;  // `latest` has; kept here, as it is looked at whenever one is due
  bool gone = false;           // the object exists no more
  bool busy = false;           // a cycle or round is under way
  bool again = false;          // it was woken during the cycle: another one follows at once
  bool woken = false;          // the next cycle must ask anew: earlier answers do not count
  bool recreated = false;      // since the last cycle the object was made anew under the same name
  bool steady = false;         // it was when its last cycle or round ended
  SteadyGroup* group = nullptr;  // a kept one, which is due instead; nullptr: it is in none
  // It is woken when a sample comes for what it reads. Changed by the thread of the cycle alone,
  // under the lock.
  bool told_of_news = false;
  absl::Duration latest_slots =
      absl::ZeroDuration();                     // time between two regular cycles, by `latest`
  absl::Duration slots = absl::ZeroDuration();  // the same, of `regular_slot`
  MonotonicTime regular_slot = absl::ZeroDuration();  // when the next regular cycle is due
};

// Where the target's scale is read. It is found anew when the spec or the kinds of the cluster
// change.
struct ScaleTarget {
  std::shared_ptr<const kube::RestMapper> mapper;  // the kinds that it was found with
  ScaleStore::Place place;                         // for kinds that are watched
  ScaleAnswer failure;                             // set when there is no such apiVersion or kind
  kube::ResourceInfo resource;
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

// The pods of the target, as read.
struct TargetPods {
  SelectedPods* selected = nullptr;  // by the scale's selector; nullptr: they have to be selected
  bool owned_only = false;           // of these the ones that the target owns
  PodView view;                      // version 0: it has to be made anew
  PodsAnswer answer;
  std::string failure;  // why the watch of pods failed when they were read; "": it did not
};

// What a cycle reads, and decides on. Each cycle brings up to date what it needs of it; the rest
// stays, so that what did not change is not made anew. A decision that is under way points into it.
struct CycleInputs {
  const MathConfig& config() const { return configs->Of(managed->key.kind); }

  ScaleTarget target;  // first, near to what else is looked at whether it is steady or not
  ManagedPtr managed;
  Mode mode = Mode::kShadow;
  MathConfigsPtr configs;  // another one makes another plan
  Plan plan;
  ScaleReading scale;
  bool reads_metrics = false;  // at this scale
  TargetPods pods;

  std::vector<Reading> readings;  // by metric of the plan...
  uint64_t readings_plan = 0;     // ...that had this version
  std::vector<uint64_t> answers;  // by metric: version of the answer that the reading was made of
  uint64_t last_reading = 0;      // the highest Reading::version given so far

  std::vector<TriggerReading> trigger_readings;  // of all triggers
  std::vector<uint64_t> trigger_answers;         // by trigger: version of the answer they are of
  bool triggers_changed = false;                 // since the last decision
};

// The last decision, and what is remembered from one to the next. A cycle replaces it in its
// middle: until then it is the decision before.
struct LastDecision {
  bool made = false;  // false: nothing was decided since the autoscaler became ours
  Decision decision;
  AutoscalerStatus status;                // after the decision, as it should be stored
  bool status_is_old = false;             // it is that of an earlier object of the same name
  std::optional<Activation> activation;   // nullopt: the autoscaler has no triggers
  std::optional<absl::Time> last_active;  // when a trigger was last active
  bool unchanged = false;                 // the decision before stands (DecideStep::Decide)
  std::vector<MetricOutage> outages;      // by metric, where one has a fallback

  // ---- what it was decided with
  Mode mode = Mode::kShadow;
  uint64_t plan = 0;  // version of the plan
  MonotonicTime at = -absl::InfiniteDuration();
  absl::Duration wall_offset = absl::ZeroDuration();  // wall - monotonic, at that time
  bool restored = false;  // Ownership::Restore was asked for what an earlier owner remembered
  uint64_t ownership_epoch = 0;  // the loop's, when `restored` was last reset
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

// A scale write that was sent and got no answer that says what became of it: it may have had its
// effect.
struct UnconfirmedWrite {
  std::string uid;  // of the scale's object
  int32_t from = 0, to = 0;
  absl::Time time;  // wall time at which it was sent
};

// What was written, or offered to be, as far as later cycles have to know of it.
struct WrittenSoFar {
  std::optional<int32_t> seen_replicas;  // of the scale, at the last decision or after its write
  std::optional<UnconfirmedWrite> unconfirmed;
  StatusMarks status;
};

// What became of the scale write of one decision. The default: there was none to be made. Nobody
// keeps it beyond the cycle.
struct WriteOutcome {
  bool written = false;
  std::string error = {};    // of a write that was tried and failed
  bool dropped = false;      // the decision was dropped instead of written (act_step.h)
  bool decide_anew = false;  // it was made from what is true no more: another cycle follows at once
};

struct TrackedAutoscaler;

// What a round looks at of each steady autoscaler, kept close together: the objects that it was
// decided on with their versions then, and where the round is counted.
struct RoundMember {
  TrackedAutoscaler* autoscaler = nullptr;
  const ScaleStore::ObjectScale* scale = nullptr;
  uint64_t scale_version = 0;
  const SelectedPods* pods = nullptr;
  uint64_t pods_version = 0;
  Steadiness* rounds = nullptr;
};

// What a steady autoscaler was decided on (steady/steady_step.h).
struct SteadyInputs {
  RoundMember member;
  std::shared_ptr<Steadiness> rounds;
  struct Read {
    const QuestionBoard::Part* part = nullptr;
    uint64_t version = 0;  // of its answer
  };
  absl::InlinedVector<Read, 2> reads;                             // by metric
  absl::InlinedVector<const QuestionBoard::Asked*, 2> questions;  // of these parts, each once
  absl::Time until;  // from then on time alone may change the decision
  uint64_t ownership_epoch = 0;
  const SteadyKind* kind = nullptr;
};

enum class CyclePhase { kReadingScale, kReadingMetrics };

// Is due, and then waits for the answers of one autoscaler's cycle, or of a round of many that are
// steady.
struct CycleWaiter : public AnswerWaiter, public Schedule::Item {
  explicit CycleWaiter(bool waits_for_many) : of_many(waits_for_many) {}
  bool Answered() override { return pending.fetch_sub(1) == 1; }

  const bool of_many;            // a SteadyGroup, else a TrackedAutoscaler
  std::atomic<int> pending = 0;  // answers that are awaited, plus one while more are asked for
};

struct TrackedAutoscaler : public CycleWaiter {
  explicit TrackedAutoscaler(AutoscalerKey its_key)
      : CycleWaiter(/*waits_for_many=*/false), key(std::move(its_key)) {}

  const AutoscalerKey key;
  DueState due;

  // ---- of the present cycle
  CyclePhase phase = CyclePhase::kReadingScale;
  bool not_steady = false;  // since this slot: it was woken, or the object is another
  MonotonicTime not_before = absl::ZeroDuration();  // answers asked for earlier do not count
  MonotonicTime began = absl::ZeroDuration();
  absl::Duration pace = absl::ZeroDuration();  // the next cycle begins no later than after this

  std::unique_ptr<SteadyInputs> steady_on;  // nullptr: it is not steady
  CycleInputs inputs;
  LastDecision decided;
  WrittenSoFar written;
};

}  // namespace flyball::scaler
