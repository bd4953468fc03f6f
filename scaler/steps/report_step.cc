#include "scaler/steps/report_step.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scaler/math/reconcile.h"
#include "scaler/spec/own_spec.h"
#include "scaler/steps/guard.h"

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

// An HPA's status is written only where we are its controller; that of our own kind also when we
// only advise.
bool WritesStatus(const TrackedAutoscaler& tracked) {
  return tracked.mode == Mode::kAct ||
         (tracked.mode == Mode::kAdvise && tracked.key.kind == AutoscalerKind::kOwn);
}

OwnStatus OwnStatusOf(const TrackedAutoscaler& tracked) {
  OwnStatus own{.last_active = tracked.last_active, .triggers = {}};
  const std::vector<TriggerSpec>& specs = tracked.managed->own.triggers;
  size_t next = 0;
  for (size_t i = 0; i < tracked.plan.triggers().size() && i < specs.size(); ++i) {
    OwnStatus::TriggerStatus& out = own.triggers.emplace_back();
    out.type = specs[i].type;
    out.name = specs[i].name;
    // Of a trigger with several metrics the first says its value; any makes it active.
    for (size_t j = 0; j < tracked.plan.triggers()[i].metrics.size(); ++j, ++next) {
      if (next >= tracked.trigger_readings.size()) break;
      const TriggerReading& reading = tracked.trigger_readings[next];
      out.active = out.active || reading.active;
      if (out.error.empty()) out.error = reading.error;
      if (j == 0 && reading.error.empty()) out.value_milli = reading.value_milli;
    }
  }
  return own;
}

// As the API shows both: times in whole seconds.
bool SameAsStored(const Managed& managed, AutoscalerStatus status) {
  if (managed.key.kind == AutoscalerKind::kOwn) {
    status.observed_generation = managed.autoscaler.generation;
  }
  return StatusPatch("", managed.autoscaler.status, nullptr) == StatusPatch("", status, nullptr);
}

// Activity goes on from one decision to the next: what is stored of it may lag behind by a quarter
// of the cooldown that is counted from it.
bool ActivityIsTold(const TrackedAutoscaler& tracked, absl::Duration status_interval) {
  if (tracked.last_active == tracked.marks.last_active) return true;
  if (!tracked.last_active.has_value() || !tracked.marks.last_active.has_value()) return false;
  const absl::Duration behind = *tracked.last_active - *tracked.marks.last_active;
  return behind >= -absl::Seconds(1) &&
         behind < std::max(tracked.managed->own.cooldown / 4, status_interval);
}

// Between two statuses of one autoscaler. A little more than a second, so that what is decided each
// second is in time to tell what became of the last decision.
constexpr absl::Duration kGather = absl::Milliseconds(1250);

std::optional<absl::Time> NewestSample(const TrackedAutoscaler& tracked) {
  std::optional<absl::Time> newest;
  if (!tracked.reads_metrics) return newest;
  for (const Reading& reading : tracked.readings) {
    if (reading.timestamp.has_value() && (!newest.has_value() || *newest < *reading.timestamp)) {
      newest = reading.timestamp;
    }
  }
  return newest;
}

}  // namespace

// A failure is told at once. Anything else waits where the next decision, which tells what became
// of this one, comes soon; what is due already takes it along.
MonotonicTime ReportStep::StatusDue(const TrackedAutoscaler& tracked, bool fails,
                                    MonotonicTime now) const {
  if (fails) return now;
  if (tracked.marks.due > now) return tracked.marks.due;
  const absl::Duration gather = std::min(kGather, deps_.status_interval);
  return tracked.pace <= gather ? now + gather : std::max(now, tracked.marks.due + gather);
}

void ReportStep::OfferStatus(TrackedAutoscaler& tracked, MonotonicTime now) const {
  tracked.status_offered = false;
  if (!WritesStatus(tracked)) return;
  StatusMarks& marks = tracked.marks;
  if (marks.outbox == nullptr) marks.outbox = std::make_shared<StatusWriter::Outbox>();
  if (marks.outbox->TakeFailed()) marks.seen = nullptr;
  if (tracked.unchanged && marks.seen == tracked.managed && !marks.stale) return;
  const bool other = std::exchange(marks.seen, tracked.managed) != tracked.managed;
  if (other && !deps_.statuses.WroteAfter(marks.outbox, *tracked.managed)) {
    const AutoscalerStatus& stored = tracked.managed->autoscaler.status;
    marks.cared = CaredDigest(stored, stored.observed_generation);
    marks.failure = FailureDigest(stored);
    marks.last_active = tracked.managed->last_active;
    marks.stale = !SameAsStored(*tracked.managed, tracked.status);
  } else {
    marks.stale = marks.stale || tracked.decision.status_changed;
  }
  const bool own = tracked.key.kind == AutoscalerKind::kOwn;
  const std::optional<int64_t> generation =
      own ? tracked.managed->autoscaler.generation : tracked.status.observed_generation;
  const uint64_t cared = CaredDigest(tracked.status, generation);
  const bool urgent = cared != marks.cared || !ActivityIsTold(tracked, deps_.status_interval);
  if (!urgent && (!marks.stale || now - marks.offered_at < deps_.status_interval)) return;
  StatusJob job{.managed = tracked.managed, .status = tracked.status, .own = std::nullopt};
  if (own) job.own = OwnStatusOf(tracked);
  job.status.observed_generation = generation;
  const uint64_t failure = FailureDigest(tracked.status);
  marks.due = StatusDue(tracked, failure != 0 && failure != marks.failure, now);
  deps_.statuses.Offer(marks.outbox, std::move(job), urgent, marks.due);
  marks.cared = cared;
  marks.failure = failure;
  marks.last_active = tracked.last_active;
  marks.stale = false;
  marks.offered_at = now;
  tracked.status_offered = true;
}

void ReportStep::SendEvents(const TrackedAutoscaler& tracked, MonotonicTime now) const {
  if (tracked.mode != Mode::kAct || tracked.decision.events.empty()) return;
  if (!deps_.ownership.MayWrite(tracked.key, now)) return;
  kube::EventSink& recorder =
      tracked.key.kind == AutoscalerKind::kOwn ? deps_.own_events : deps_.hpa_events;
  const kube::EventSubject subject = SubjectOf(*tracked.managed);
  for (const Event& event : tracked.decision.events) {
    recorder.Record(subject, event.warning, event.reason, event.message);
  }
}

void ReportStep::Observe(const TrackedAutoscaler& tracked, MonotonicTime now) const {
  if (deps_.observers.empty()) return;
  DecisionRecord record;
  record.managed = tracked.managed;
  record.mode = tracked.mode;
  record.decided_on = &tracked.plan.autoscaler();
  record.scale = &tracked.scale.answer;
  record.pods = tracked.reads_metrics ? &tracked.pods : nullptr;
  if (tracked.reads_metrics) record.readings = tracked.readings;
  record.newest_sample = NewestSample(tracked);
  record.activation = tracked.activation.has_value() ? &*tracked.activation : nullptr;
  record.decision = &tracked.decision;
  record.time = tracked.decision.now;
  record.monotonic = now;
  record.took = now - tracked.began;
  record.wall_offset = tracked.wall_offset;
  record.scale_written = tracked.scale_written;
  record.scale_error = tracked.scale_error;
  record.status_written = tracked.status_offered;
  record.unchanged = tracked.unchanged;
  for (DecisionObserver* observer : deps_.observers) observer->OnDecision(record);
}

void ReportStep::Report(TrackedAutoscaler& tracked, const DecisionInput& input,
                        MonotonicTime now) const {
  if (!tracked.unchanged) {
    GuardStatus(tracked.status, tracked.decision);
    RecordStatusWrite(input, "", tracked.decision);
    if (tracked.decision.status_changed) tracked.status = tracked.decision.status;
  }
  OfferStatus(tracked, now);
  if (!tracked.unchanged) SendEvents(tracked, now);
  Observe(tracked, now);
}

void ReportStep::ReportDropped(TrackedAutoscaler& tracked, MonotonicTime now) const {
  tracked.status_offered = false;
  Observe(tracked, now);
}

void ReportStep::StatusFailed(const StatusJob& job, const absl::Status& status) const {
  if (absl::IsNotFound(status)) return;  // the object is gone
  kube::EventSink& recorder =
      job.managed->key.kind == AutoscalerKind::kOwn ? deps_.own_events : deps_.hpa_events;
  recorder.Record(SubjectOf(*job.managed), true, "FailedUpdateStatus",
                  std::string(status.message()));
}

}  // namespace flyball::scaler
