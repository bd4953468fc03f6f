#include "scaler/steps/report_step.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scaler/math/reconcile.h"
#include "scaler/spec/own_parser.h"
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
bool WritesStatus(const Entry& entry) {
  return entry.mode == Mode::kAct ||
         (entry.mode == Mode::kAdvise && entry.key.kind == AutoscalerKind::kOwn);
}

OwnStatus OwnStatusOf(const Entry& entry) {
  OwnStatus own{.last_active = entry.last_active, .triggers = {}};
  const std::vector<TriggerSpec>& specs = entry.managed->own.triggers;
  size_t next = 0;
  for (size_t i = 0; i < entry.plan.triggers().size() && i < specs.size(); ++i) {
    OwnStatus::TriggerStatus& out = own.triggers.emplace_back();
    out.type = specs[i].type;
    out.name = specs[i].name;
    // Of a trigger with several metrics the first says its value; any makes it active.
    for (size_t j = 0; j < entry.plan.triggers()[i].metrics.size(); ++j, ++next) {
      if (next >= entry.trigger_readings.size()) break;
      const TriggerReading& reading = entry.trigger_readings[next];
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
bool ActivityIsTold(const Entry& entry, absl::Duration status_interval) {
  if (entry.last_active == entry.marks.last_active) return true;
  if (!entry.last_active.has_value() || !entry.marks.last_active.has_value()) return false;
  const absl::Duration behind = *entry.last_active - *entry.marks.last_active;
  return behind >= -absl::Seconds(1) &&
         behind < std::max(entry.managed->own.cooldown / 4, status_interval);
}

// Between two statuses of one autoscaler. A little more than a second, so that what is decided each
// second is in time to tell what became of the last decision.
constexpr absl::Duration kGather = absl::Milliseconds(1250);

std::optional<absl::Time> NewestSample(const Entry& entry) {
  std::optional<absl::Time> newest;
  if (!entry.reads_metrics) return newest;
  for (const Reading& reading : entry.readings) {
    if (reading.timestamp.has_value() && (!newest.has_value() || *newest < *reading.timestamp)) {
      newest = reading.timestamp;
    }
  }
  return newest;
}

}  // namespace

// A failure is told at once. Anything else waits where the next decision, which tells what became
// of this one, comes soon; what is due already takes it along.
MonotonicTime ReportStep::StatusDue(const Entry& entry, bool fails, MonotonicTime now) const {
  if (fails) return now;
  if (entry.marks.due > now) return entry.marks.due;
  const absl::Duration gather = std::min(kGather, parts_.status_interval);
  return entry.pace <= gather ? now + gather : std::max(now, entry.marks.due + gather);
}

void ReportStep::OfferStatus(Entry& entry, MonotonicTime now) const {
  entry.status_offered = false;
  if (!WritesStatus(entry)) return;
  StatusMarks& marks = entry.marks;
  if (marks.slot == nullptr) marks.slot = std::make_shared<StatusWriter::Slot>();
  if (marks.slot->TakeFailed()) marks.seen = nullptr;
  if (entry.unchanged && marks.seen == entry.managed && !marks.stale) return;
  const bool other = std::exchange(marks.seen, entry.managed) != entry.managed;
  if (other && !parts_.statuses.WroteAfter(marks.slot, *entry.managed)) {
    const AutoscalerStatus& stored = entry.managed->autoscaler.status;
    marks.cared = CaredDigest(stored, stored.observed_generation);
    marks.failure = FailureDigest(stored);
    marks.last_active = entry.managed->last_active;
    marks.stale = !SameAsStored(*entry.managed, entry.status);
  } else {
    marks.stale = marks.stale || entry.decision.status_changed;
  }
  const bool own = entry.key.kind == AutoscalerKind::kOwn;
  const std::optional<int64_t> generation =
      own ? entry.managed->autoscaler.generation : entry.status.observed_generation;
  const uint64_t cared = CaredDigest(entry.status, generation);
  const bool urgent = cared != marks.cared || !ActivityIsTold(entry, parts_.status_interval);
  if (!urgent && (!marks.stale || now - marks.offered_at < parts_.status_interval)) return;
  StatusJob job{.managed = entry.managed, .status = entry.status, .own = std::nullopt};
  if (own) job.own = OwnStatusOf(entry);
  job.status.observed_generation = generation;
  const uint64_t failure = FailureDigest(entry.status);
  marks.due = StatusDue(entry, failure != 0 && failure != marks.failure, now);
  parts_.statuses.Offer(marks.slot, std::move(job), urgent, marks.due);
  marks.cared = cared;
  marks.failure = failure;
  marks.last_active = entry.last_active;
  marks.stale = false;
  marks.offered_at = now;
  entry.status_offered = true;
}

void ReportStep::SendEvents(const Entry& entry, MonotonicTime now) const {
  if (entry.mode != Mode::kAct || entry.decision.events.empty()) return;
  if (!parts_.ownership.MayWrite(entry.key, now)) return;
  kube::EventSink& recorder =
      entry.key.kind == AutoscalerKind::kOwn ? parts_.own_events : parts_.hpa_events;
  const kube::EventSubject subject = SubjectOf(*entry.managed);
  for (const Event& event : entry.decision.events) {
    recorder.Record(subject, event.warning, event.reason, event.message);
  }
}

void ReportStep::Observe(const Entry& entry, MonotonicTime now) const {
  if (parts_.observers.empty()) return;
  DecisionRecord record;
  record.managed = entry.managed;
  record.mode = entry.mode;
  record.decided_on = &entry.plan.autoscaler();
  record.scale = &entry.scale.answer;
  record.pods = entry.reads_metrics ? &entry.pods : nullptr;
  if (entry.reads_metrics) record.readings = entry.readings;
  record.newest_sample = NewestSample(entry);
  record.activation = entry.activation.has_value() ? &*entry.activation : nullptr;
  record.decision = &entry.decision;
  record.time = entry.decision.now;
  record.monotonic = now;
  record.took = now - entry.began;
  record.wall_offset = entry.wall_offset;
  record.scale_written = entry.scale_written;
  record.scale_error = entry.scale_error;
  record.status_written = entry.status_offered;
  record.unchanged = entry.unchanged;
  for (DecisionObserver* observer : parts_.observers) observer->OnDecision(record);
}

void ReportStep::Report(Entry& entry, const DecisionInput& input, MonotonicTime now) const {
  if (!entry.unchanged) {
    GuardStatus(entry.status, entry.decision);
    RecordStatusWrite(input, "", entry.decision);
    if (entry.decision.status_changed) entry.status = entry.decision.status;
  }
  OfferStatus(entry, now);
  if (!entry.unchanged) SendEvents(entry, now);
  Observe(entry, now);
}

void ReportStep::ReportDropped(Entry& entry, MonotonicTime now) const {
  entry.status_offered = false;
  Observe(entry, now);
}

void ReportStep::StatusFailed(const StatusJob& job, const absl::Status& status) const {
  if (absl::IsNotFound(status)) return;  // the object is gone
  kube::EventSink& recorder =
      job.managed->key.kind == AutoscalerKind::kOwn ? parts_.own_events : parts_.hpa_events;
  recorder.Record(SubjectOf(*job.managed), true, "FailedUpdateStatus",
                  std::string(status.message()));
}

}  // namespace flyball::scaler
