// One autoscaler in the loop. A cycle is one pass over it: its inputs are read, it is decided, and
// the decision is carried out.
//
// Threads: DueState is used under the loop's lock. Everything else belongs to the thread that works
// on the present cycle or round; several threads may do so in turn, but never two at once. Between
// cycles it belongs to the thread that begins the next one. All of it lives as long as the
// autoscaler exists.
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

// When the next cycle is due, and what the watch has reported since the present one began. Any
// thread that holds the loop's lock may read and change it, also during a cycle.
struct DueState {
  ManagedPtr latest;             // the object as it is now
  ManagedPtr scheduled;          // the same with its schedules applied, when it was last due
  bool has_schedules = false;    // whether `latest` has any; copied, since each slot reads it
  bool gone = false;             // the object was deleted
  bool busy = false;             // a cycle or round is under way
  bool again = false;            // it was woken during the cycle: another one follows at once
  bool woken = false;            // the next cycle must ask again: earlier answers do not count
  bool recreated = false;        // another object has taken the same name since the last cycle
  bool steady = false;           // whether it was steady when its last cycle or round ended
  SteadyGroup* group = nullptr;  // the kept group that is due in its place; nullptr: none
  // Whether it is woken when a sample arrives for one of its metrics. Changed only by the thread of
  // the cycle, under the lock.
  bool told_of_news = false;
  absl::Duration latest_slots =
      absl::ZeroDuration();                     // time between two regular cycles, as `latest` says
  absl::Duration slots = absl::ZeroDuration();  // the same, when `regular_slot` was computed
  MonotonicTime regular_slot = absl::ZeroDuration();  // when the next regular cycle is due
};

// Where the target's scale is read. It is looked up again when the spec or the cluster's kinds
// change.
struct ScaleTarget {
  std::shared_ptr<const kube::RestMapper> mapper;  // the kinds that it was found with
  ScaleStore::Place place;                         // for kinds that are watched
  ScaleAnswer failure;                             // set if the apiVersion or kind does not exist
  kube::ResourceInfo resource;
  QuestionBoard::Handle question;  // used if no watch reports the scale, or not reliably
};

// The scale as read, and its selector.
struct ScaleReading {
  static constexpr uint64_t kAsked = ~uint64_t{0};  // a version that no store has

  std::shared_ptr<const kube::Scale> scale;  // nullptr: not known
  uint64_t version = 0;                      // ScaleStore::ObjectScale::version when it was taken
  // The version at which the store had no scale and it was asked for; nullopt: the store has one.
  std::optional<uint64_t> absent_version;
  ScaleAnswer answer;
  std::optional<kube::Selector> selector;  // of answer.selector; nullopt: empty or not parsable
  std::string selector_error;
  // Why the watch that reported the scale failed then; "": it did not, or the scale was asked for.
  std::string failure;
};

// The pods of the target, as read.
struct TargetPods {
  SelectedPods* selected = nullptr;  // by the scale's selector; nullptr: they have to be selected
  bool owned_only = false;           // only pods that the target owns are selected
  PodView view;                      // version 0: the view has to be made anew
  PodsAnswer answer;
  // Why the watch of pods failed when triggers were asked or pods were read; "": it did not.
  std::string failure;
};

// What a cycle reads and decides on. Each cycle updates what has changed and keeps the rest. A
// decision that is being made points into it.
struct CycleInputs {
  const MathConfig& config() const { return configs->Of(managed->key.kind); }

  ScaleTarget target;  // first, to be near the other members that each slot reads
  ManagedPtr managed;
  Mode mode = Mode::kShadow;
  MathConfigsPtr configs;  // when it changes, the plan gets a new version
  Plan plan;
  ScaleReading scale;
  bool reads_metrics = false;  // whether metrics are read at this number of replicas
  TargetPods pods;
  bool rival = true;  // whether other autoscalers that select the same pods have it as a rival

  std::vector<Reading> readings;  // by metric of the plan...
  uint64_t readings_plan = 0;     // ...that had this version
  std::vector<uint64_t> answers;  // by metric: version of the answer that the reading is from
  uint64_t last_reading = 0;      // the highest Reading::version given so far

  std::vector<TriggerReading> trigger_readings;  // of all triggers
  std::vector<uint64_t> trigger_answers;         // by trigger: version of its answer
  bool triggers_changed = false;                 // since the last decision
};

// The last decision, and what is remembered from one decision to the next. Until a cycle decides,
// it is that of the previous cycle.
struct LastDecision {
  bool made = false;  // false: nothing was decided since the autoscaler became ours
  Decision decision;
  AutoscalerStatus status;     // after the decision, as it should be stored
  bool status_is_old = false;  // `status` is of an earlier object with the same name, or term
  std::optional<Activation> activation;   // nullopt: the autoscaler has no triggers
  std::optional<absl::Time> last_active;  // when a trigger was last active
  bool unchanged = false;                 // the previous decision stays (DecideStep::Decide)
  std::vector<MetricOutage> outages;      // by metric, where one has a fallback
  // RememberedState::put_to_sleep, for the next decision. It is kept because whether metrics are
  // read is determined before the remembered state is restored.
  bool put_to_sleep = false;
  // What this replica recommended before it lost the autoscaler. It may not have been saved, so
  // once the autoscaler is ours again it counts beside what an earlier owner remembered.
  std::vector<Recommendation> recommended_before;
  // With onSample: until when it lasts (DecideStep::Prolong), for observers. It is theirs too.
  std::shared_ptr<Steadiness> prolonged;

  // ---- what it was decided with
  Mode mode = Mode::kShadow;
  uint64_t plan = 0;     // version of the plan
  uint64_t metrics = 0;  // Plan::metrics_id
  MonotonicTime at = -absl::InfiniteDuration();
  absl::Duration wall_offset = absl::ZeroDuration();  // wall - monotonic, at that time
  bool restored = false;  // Ownership::Restore was asked for what an earlier owner remembered
  uint64_t ownership_epoch = 0;  // the loop's, when `restored` was last reset
  uint64_t term = 0;             // Ownership::Term
};

// The status that is stored or on its way to the API server, as far as it is needed to write a
// status only if it has changed.
struct StatusMarks {
  StatusWriter::OutboxPtr outbox;         // made when a status is first written
  ManagedPtr seen;                        // the object whose stored status these fields describe
  uint64_t cared = 0;                     // CaredDigest of what is stored or on its way
  uint64_t failure = 0;                   // FailureDigest of the same
  std::optional<absl::Time> last_active;  // that in the status which is stored or on its way
  bool stale = false;                     // that status is of an earlier decision
  MonotonicTime offered_at = -absl::InfiniteDuration();
  MonotonicTime due = -absl::InfiniteDuration();  // when the last offered status may be written
};

// A scale write whose outcome is not known, since no usable answer came: it may have taken effect.
struct UnconfirmedWrite {
  std::string uid;               // of the scale's object...
  int64_t generation = 0;        // ...before the write; 0: not known
  std::string resource_version;  // likewise
  int32_t from = 0, to = 0;
  absl::Time time;  // wall time at which it was sent
  // The API server answered that it did nothing, for example because of too many requests. So the
  // write has taken effect only if an earlier try, whose answer was lost, has.
  bool refused = false;
};

// What was written or offered for writing, as later cycles need it.
struct WrittenSoFar {
  std::optional<int32_t> seen_replicas;  // of the scale, at the last decision or after its write
  uint64_t seen_target = 0;              // hash of the scale's uid at the last decision; 0: unknown
  std::optional<UnconfirmedWrite> unconfirmed;
  std::optional<MonotonicTime> held_since;  // since when all removals were held (WriteOutcome)
  bool unfinished = false;                  // what was decided last could not be carried out
  int refusals = 0;  // how many of the last writes the API server has refused, in a row
  StatusMarks status;
};

// The outcome of one decision's scale write. It exists only during the cycle.
struct WriteOutcome {
  enum class Kind : uint8_t {
    kNotNeeded,
    kWritten,
    kFailed,  // a write was tried, or the budget left no room for it
    // The decision was dropped instead of written (act_step.h)...
    kDropped,
    kOutdated,     // ...since its inputs are out of date: another cycle follows at once
    kHeld,         // ...since its removal has to wait
    kHeldByFront,  // ...since its removal of the last pod waits for the front alone
  };
  Kind kind = Kind::kNotNeeded;
  std::string error = {};  // why it was not written
  bool refused = false;    // by the API server, which would most likely refuse it again

  bool unfinished() const { return kind > Kind::kWritten; }
  bool dropped() const { return kind >= Kind::kDropped; }
  bool held() const { return kind >= Kind::kHeld; }
};

struct TrackedAutoscaler;

// What a round reads of each steady autoscaler, kept close together: the objects of its decision,
// their versions at that time, and the counter of rounds.
struct RoundMember {
  TrackedAutoscaler* autoscaler = nullptr;
  const ScaleStore::ObjectScale* scale = nullptr;
  uint64_t scale_version = 0;
  const SelectedPods* pods = nullptr;
  uint64_t pods_version = 0;
  Steadiness* rounds = nullptr;
};

// The inputs of a steady autoscaler's decision (steady/steady_step.h).
struct SteadyInputs {
  RoundMember member;
  std::shared_ptr<Steadiness> rounds;
  struct Read {
    const QuestionBoard::Part* part = nullptr;
    uint64_t version = 0;  // of its answer
  };
  absl::InlinedVector<Read, 2> reads;                             // by metric
  absl::InlinedVector<const QuestionBoard::Asked*, 2> questions;  // those of the parts, each once
  absl::Time until;  // from then on a decision may change by time alone
  uint64_t ownership_epoch = 0;
};

enum class CyclePhase { kReadingScale, kReadingMetrics };

// What is due and then waits for answers: one autoscaler's cycle, or a round of many steady
// autoscalers.
struct CycleWaiter : public AnswerWaiter, public Schedule::Item {
  explicit CycleWaiter(bool waits_for_many) : of_many(waits_for_many) {}
  bool Answered() override { return pending.fetch_sub(1) == 1; }

  const bool of_many;            // true: this is a SteadyGroup; false: a TrackedAutoscaler
  std::atomic<int> pending = 0;  // answers it waits for, plus one while more are asked for
};

struct TrackedAutoscaler : public CycleWaiter {
  explicit TrackedAutoscaler(AutoscalerKey its_key)
      : CycleWaiter(/*waits_for_many=*/false), key(std::move(its_key)) {}

  const AutoscalerKey key;
  DueState due;

  // ---- of the present cycle
  CyclePhase phase = CyclePhase::kReadingScale;
  bool woken = false;       // it did not wait for its slot
  bool not_steady = false;  // since this slot: it was woken, or the object has changed
  MonotonicTime not_before = absl::ZeroDuration();  // answers asked for earlier do not count
  MonotonicTime began = absl::ZeroDuration();
  absl::Duration pace = absl::ZeroDuration();  // the longest time until the next cycle begins

  std::unique_ptr<SteadyInputs> steady_on;  // nullptr: it is not steady
  CycleInputs inputs;
  LastDecision decided;
  WrittenSoFar written;
};

}  // namespace flyball::scaler
