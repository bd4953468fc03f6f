#include "scaler/steps/report_step.h"

#include <algorithm>
#include <utility>

#include "scaler/math/reconcile.h"
#include "scaler/math/recording.h"
#include "scaler/spec/own_spec.h"
#include "scaler/steps/guard.h"
#include "scaler/steps/read_step.h"
#include "scaler/steps/stored_status.h"
#include "scaler/views/targets_text.h"

namespace flyball::scaler {
namespace {

kube::EventSubject SubjectOf(const Managed& managed) {
  const bool own = managed.key.kind == AutoscalerKind::kOwn;
  return {.api_version = own ? std::string(kOwnApiVersion) : "autoscaling/v2",
          .kind = own ? std::string(kOwnKind) : "HorizontalPodAutoscaler",
          .ns = managed.key.ns,
          .name = managed.key.name,
          .uid = managed.autoscaler.uid,
          .resource_version = managed.autoscaler.resource_version};
}

// An HPA's status is written only in mode act, where we are its controller; that of an Autoscaler
// (CRD) also in mode advise.
bool WritesStatus(const TrackedAutoscaler& tracked) {
  return tracked.inputs.mode == Mode::kAct ||
         (tracked.inputs.mode == Mode::kAdvise && tracked.key.kind == AutoscalerKind::kOwn);
}

OwnStatus OwnStatusOf(const TrackedAutoscaler& tracked) {
  OwnStatus own{.last_active = tracked.decided.last_active, .triggers = {}};
  const std::vector<TriggerSpec>& specs = tracked.inputs.managed->own.triggers;
  size_t next = 0;
  for (size_t i = 0; i < tracked.inputs.plan.triggers().size() && i < specs.size(); ++i) {
    OwnStatus::TriggerStatus& out = own.triggers.emplace_back();
    out.type = specs[i].type;
    out.name = specs[i].name;
    out.error = tracked.inputs.plan.triggers()[i].error;
    // A trigger with several metrics shows the value of the first; it is active if any of them is.
    for (size_t j = 0; j < tracked.inputs.plan.triggers()[i].metrics.size(); ++j, ++next) {
      if (next >= tracked.inputs.trigger_readings.size()) break;
      const TriggerReading& reading = tracked.inputs.trigger_readings[next];
      out.active = out.active || reading.active;
      if (out.error.empty() && reading.failed()) out.error = reading.error;
      if (j == 0 && reading.error.empty()) out.value_milli = reading.value_milli;
    }
  }
  own.last_decision = DecisionStatusOf(tracked.decided.decision);
  own.mode = ModeName(tracked.inputs.mode);
  own.targets =
      TargetsText(tracked.inputs.plan.autoscaler().metrics, tracked.decided.status.current_metrics);
  return own;
}

// Whether both look the same in the API, which shows times in whole seconds.
bool SameAsStored(const Managed& managed, AutoscalerStatus status) {
  if (managed.key.kind == AutoscalerKind::kOwn) {
    status.observed_generation = managed.autoscaler.generation;
  }
  return StatusPatch("", managed.autoscaler.status, nullptr) == StatusPatch("", status, nullptr);
}

// Whether the stored time of activity is recent enough. While activity goes on it changes with each
// decision, so it may lag behind by a quarter of the cooldown that is counted from it.
bool ActivityIsTold(const TrackedAutoscaler& tracked, absl::Duration status_interval) {
  const std::optional<absl::Time>& is = tracked.decided.last_active;
  const std::optional<absl::Time>& told = tracked.written.status.last_active;
  if (is == told) return true;
  if (!is.has_value() || !told.has_value()) return false;
  const absl::Duration behind = *is - *told;
  return behind >= -absl::Seconds(1) &&
         behind < std::max(tracked.inputs.managed->own.cooldown / 4, status_interval);
}

// Whether the status puts the target to sleep or wakes it. By this condition alone the next owner
// knows whether a target at zero replicas may wake.
bool TellsOfSleep(const TrackedAutoscaler& tracked) {
  return ConditionIsTrue(tracked.decided.status, kScaledToZero) !=
         ConditionIsTrue(tracked.inputs.managed->autoscaler.status, kScaledToZero);
}

// After a failed write of a status nothing in it counts as reported.
void FollowOutbox(StatusMarks& marks) {
  if (marks.outbox == nullptr) marks.outbox = std::make_shared<StatusWriter::Outbox>();
  if (marks.outbox->TakeFailed()) marks.seen = nullptr;
}

constexpr char kInvalidSpec[] = "InvalidSpec";

// Whether the stored status says why this spec is refused.
bool TellsOfRefusal(const Managed& managed) {
  const AutoscalerStatus& status = managed.autoscaler.status;
  const Condition* const active = FindCondition(kScalingActive, status.conditions);
  return active != nullptr && active->status == ConditionStatus::kFalse &&
         active->reason == kInvalidSpec && active->message == managed.refused &&
         status.observed_generation == managed.autoscaler.generation;
}

// Least time between two statuses of one autoscaler. It is a little more than a second, so that an
// autoscaler that is decided each second can write the result of the last decision with the next.
constexpr absl::Duration kGather = absl::Milliseconds(1250);

// No ordinary pause: a watch that was reopened, or a state that is to be saved first, takes less.
constexpr absl::Duration kLongHold = absl::Seconds(10);

constexpr char kScaleDownHeld[] = "ScaleDownHeld";

// The decider has set the condition to True. If the removal was held before, that is no transition:
// the time would be another one in each decision, and the status would be written for it.
void SetScaleDownHeld(const DecisionInput& input, absl::string_view why, Decision& decision) {
  const Condition* const before = FindCondition(kAbleToScale, StoredStatus(input).conditions);
  const bool goes_on = before != nullptr && before->reason == kScaleDownHeld;
  SetCondition({.type = kAbleToScale,
                .status = ConditionStatus::kFalse,
                .reason = kScaleDownHeld,
                .message = {"the target keeps its replicas: ", why}},
               goes_on ? before->last_transition_time.value_or(decision.now) : decision.now,
               decision.status.conditions);
}

// That the front waits is ordinary: the last pod stays for the retention period. If anything is
// wrong there, the condition FrontReady says so.
void RecordHeldRemoval(const DecisionInput& input, const WriteOutcome& write, Decision& decision) {
  if (write.kind != WriteOutcome::Kind::kHeldByFront) {
    SetScaleDownHeld(input, write.error, decision);
  }
  RebuildStatus(input, decision.current, decision);
  decision.status_changed = !SemanticallyEqual(StoredStatus(input), decision.status);
}

std::optional<absl::Time> NewestSample(const CycleInputs& inputs) {
  std::optional<absl::Time> newest;
  if (!inputs.reads_metrics) return newest;
  for (const Reading& reading : inputs.readings) {
    if (reading.timestamp.has_value() && (!newest.has_value() || *newest < *reading.timestamp)) {
      newest = reading.timestamp;
    }
  }
  return newest;
}

}  // namespace

// When the status may be written: at once if that is requested. Otherwise it waits if the next
// decision, whose status shows the effect of this one, is near; a status that is due earlier
// already includes it.
MonotonicTime ReportStep::StatusDue(const TrackedAutoscaler& tracked, bool at_once,
                                    MonotonicTime now) const {
  if (at_once) return now;
  const MonotonicTime due = tracked.written.status.due;
  if (due > now) return due;
  const absl::Duration gather = std::min(kGather, deps_.status_interval);
  return tracked.pace <= gather ? now + gather : std::max(now, due + gather);
}

void ReportStep::Offer(StatusJob job, uint64_t cared, uint64_t failure, bool urgent,
                       MonotonicTime now, StatusMarks& marks) const {
  deps_.statuses.Offer(marks.outbox, std::move(job), urgent, marks.due);
  marks.cared = cared;
  marks.failure = failure;
  marks.stale = false;
  marks.offered_at = now;
}

bool ReportStep::OfferStatus(TrackedAutoscaler& tracked, MonotonicTime now) const {
  if (!WritesStatus(tracked)) return false;
  const ManagedPtr& managed = tracked.inputs.managed;
  const LastDecision& decided = tracked.decided;
  StatusMarks& marks = tracked.written.status;
  // Every replica decides what is advised, but only the owner reports it.
  if (tracked.inputs.mode == Mode::kAdvise && !deps_.ownership.Owns(tracked.key)) {
    marks.seen = nullptr;
    return false;
  }
  FollowOutbox(marks);
  if (decided.unchanged && marks.seen == managed && !marks.stale) return false;
  const bool other = std::exchange(marks.seen, managed) != managed;
  if (other && !deps_.statuses.WroteAfter(marks.outbox, *managed)) {
    const AutoscalerStatus& stored = managed->autoscaler.status;
    marks.cared = CaredDigest(stored, stored.observed_generation);
    marks.failure = FailureDigest(stored);
    marks.last_active = managed->last_active;
    marks.stale = !SameAsStored(*managed, decided.status);
  } else {
    marks.stale = marks.stale || decided.decision.status_changed;
  }
  const bool own = tracked.key.kind == AutoscalerKind::kOwn;
  const std::optional<int64_t> generation =
      own ? managed->autoscaler.generation : decided.status.observed_generation;
  const uint64_t cared = CaredDigest(decided.status, generation);
  const bool urgent = cared != marks.cared || !ActivityIsTold(tracked, deps_.status_interval);
  if (!urgent && (!marks.stale || now - marks.offered_at < deps_.status_interval)) return false;
  StatusJob job{.managed = managed, .status = decided.status, .own = std::nullopt};
  if (own) job.own = OwnStatusOf(tracked);
  job.status.observed_generation = generation;
  const uint64_t failure = FailureDigest(decided.status);
  const bool fails = failure != 0 && failure != marks.failure;
  marks.due = StatusDue(tracked, fails || TellsOfSleep(tracked), now);
  Offer(std::move(job), cared, failure, urgent, now, marks);
  marks.last_active = decided.last_active;
  return true;
}

void ReportStep::Refused(TrackedAutoscaler& tracked, absl::Time wall, MonotonicTime now) const {
  const ManagedPtr& managed = tracked.inputs.managed;
  // An object that could not be read at all has no uid, and its status is unknown too.
  if (tracked.key.kind != AutoscalerKind::kOwn || managed->autoscaler.uid.empty() ||
      !deps_.ownership.MayWrite(tracked.key, now)) {
    return;
  }
  StatusMarks& marks = tracked.written.status;
  FollowOutbox(marks);
  // The write itself makes a new version of the object, whose status contains it.
  if (marks.seen == managed || TellsOfRefusal(*managed)) return;
  // The last decision's status may still be on its way, so the stored one may be older.
  LastDecision& decided = tracked.decided;
  if (decided.made) TakeStoredStatus(tracked);
  StatusJob job{.managed = managed,
                .status = decided.made ? decided.status : managed->autoscaler.status,
                .own = std::nullopt};
  job.status.observed_generation = managed->autoscaler.generation;
  SetCondition({.type = kScalingActive,
                .status = ConditionStatus::kFalse,
                .reason = kInvalidSpec,
                .message = {managed->refused}},
               wall, job.status.conditions);
  if (decided.made) decided.status = job.status;
  marks.seen = managed;
  marks.due = now;
  const uint64_t cared = CaredDigest(job.status, job.status.observed_generation);
  const uint64_t failure = FailureDigest(job.status);
  Offer(std::move(job), cared, failure, /*urgent=*/true, now, marks);
  deps_.own_events.Record(SubjectOf(*managed), /*warning=*/true, kInvalidSpec, managed->refused);
}

void ReportStep::SendEvents(const CycleInputs& inputs, const Decision& decision,
                            MonotonicTime now) const {
  if (inputs.mode != Mode::kAct || decision.events.empty()) return;
  const Managed& managed = *inputs.managed;
  if (!deps_.ownership.MayWrite(managed.key, now)) return;
  kube::EventSink& recorder =
      managed.key.kind == AutoscalerKind::kOwn ? deps_.own_events : deps_.hpa_events;
  const kube::EventSubject subject = SubjectOf(managed);
  for (const Event& event : decision.events) {
    recorder.Record(subject, event.warning, event.reason, event.message);
  }
}

void ReportStep::Observe(const TrackedAutoscaler& tracked, const WriteOutcome& write,
                         bool status_offered, MonotonicTime now) const {
  if (deps_.observers.empty()) return;
  const CycleInputs& inputs = tracked.inputs;
  const LastDecision& decided = tracked.decided;
  DecisionRecord record;
  record.managed = inputs.managed;
  record.mode = inputs.mode;
  record.restored = tracked.decided.restored;
  record.decided_on = &inputs.plan.autoscaler();
  record.scale = &inputs.scale.answer;
  record.scale_is_old = ReadStep::MayBeOld(inputs);
  record.pods = inputs.reads_metrics ? &inputs.pods.answer : nullptr;
  if (inputs.reads_metrics) record.readings = inputs.readings;
  record.newest_sample = NewestSample(inputs);
  record.activation = decided.activation.has_value() ? &*decided.activation : nullptr;
  record.decision = &decided.decision;
  record.time = decided.decision.now;
  record.monotonic = now;
  record.took = now - tracked.began;
  record.wall_offset = decided.wall_offset;
  record.scale_written = write.kind == WriteOutcome::Kind::kWritten;
  record.scale_error = write.error;
  record.front_waits = write.kind == WriteOutcome::Kind::kHeldByFront;
  record.status_written = status_offered;
  record.unchanged = decided.unchanged;
  record.prolonged = decided.prolonged;
  for (DecisionObserver* observer : deps_.observers) observer->OnDecision(record);
}

bool ReportStep::IsHeldForLong(const WriteOutcome& write, MonotonicTime now,
                               WrittenSoFar& written) {
  if (!write.held()) {
    written.held_since.reset();
    return false;
  }
  if (!written.held_since.has_value()) written.held_since = now;
  return now - *written.held_since >= kLongHold;
}

void ReportStep::Report(TrackedAutoscaler& tracked, const DecisionInput& input,
                        const WriteOutcome& write, MonotonicTime now) const {
  LastDecision& decided = tracked.decided;
  const bool held = IsHeldForLong(write, now, tracked.written);
  if (held) {
    RecordHeldRemoval(input, write, decided.decision);
  } else if (write.dropped()) {
    return Observe(tracked, write, /*status_offered=*/false, now);
  }
  if (!decided.unchanged) {
    GuardStatus(decided.status, decided.decision);
    RecordStatusWrite(input, "", decided.decision);
    if (decided.decision.status_changed) decided.status = decided.decision.status;
  }
  const bool offered = OfferStatus(tracked, now);
  if (!decided.unchanged) SendEvents(tracked.inputs, decided.decision, now);
  Observe(tracked, write, offered, now);
}

void ReportStep::StatusFailed(const StatusJob& job, const absl::Status& status) const {
  if (absl::IsNotFound(status)) return;  // the object is gone
  kube::EventSink& recorder =
      job.managed->key.kind == AutoscalerKind::kOwn ? deps_.own_events : deps_.hpa_events;
  recorder.Record(SubjectOf(*job.managed), true, "FailedUpdateStatus",
                  std::string(status.message()));
}

}  // namespace flyball::scaler
