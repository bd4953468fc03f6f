#include "scaler/steps/decide_step.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "base/go/arithmetic.h"
#include "scaler/math/history.h"
#include "scaler/math/hpa/decider_of.h"
#include "scaler/math/recording.h"
#include "scaler/steps/apply_activation.h"
#include "scaler/steps/reading_maker.h"
#include "scaler/steps/stored_status.h"
#include "scaler/stores/state_upkeep.h"
#include "scaler/triggers/fallback.h"

namespace flyball::scaler {
namespace {

// An object that is younger has had no owner before this one: a Lease takes longer to run out.
constexpr absl::Duration kNew = absl::Seconds(10);

// Whether a trigger may have been active until now, as far as the status shows that another owner,
// or this one in an earlier term, wrote last. Above zero replicas the status may be older than the
// last activity, since it is written after the scale, and its time is from another clock. That
// counts even if the minimum is above zero, since it may be lowered within the cooldown.
bool MayHaveBeenActive(const CycleInputs& inputs, absl::Time now) {
  const AutoscalerStatus& status = inputs.managed->autoscaler.status;
  const Condition* const told = FindCondition(kActive, status.conditions);
  const ScaleAnswer& scale = inputs.scale.answer;
  // While the watch of the scale fails, its owner may have woken it since.
  const bool at_zero = scale.failure == ScaleAnswer::Failure::kNone && scale.spec_replicas == 0 &&
                       inputs.scale.failure.empty();
  // Nobody has decided it, or its owner could not write the status.
  if (told == nullptr) {
    return !at_zero && !inputs.managed->own.triggers.empty() &&
           inputs.managed->created + kNew < now;
  }
  return told->status == ConditionStatus::kTrue || !at_zero;
}

// In shadow another controller writes the scale: its changes count for the policies as ours would.
// A new target with a count of its own is no change.
void NoteForeignScale(const CycleInputs& inputs, absl::Time now, LastDecision& last,
                      WrittenSoFar& written) {
  const int32_t replicas = inputs.scale.answer.spec_replicas;
  const std::optional<Behavior>& behavior = inputs.managed->autoscaler.behavior;
  const uint64_t target = inputs.scale.scale == nullptr ? 0 : absl::HashOf(inputs.scale.scale->uid);
  const bool same = std::exchange(written.seen_target, target) == target;
  if (inputs.mode != Mode::kAct && same && written.seen_replicas.has_value() &&
      *written.seen_replicas != replicas && behavior.has_value()) {
    RecordScaleEvent(*behavior, *written.seen_replicas, replicas, now, last.decision.state);
  }
  written.seen_replicas = replicas;
}

// Whether the spec of the object has changed, or may have, since it was read for that write. The
// answer to a call has no generation; the watch has it, and soon reports it unless it is broken.
bool HasChangedSince(const UnconfirmedWrite& write, const ScaleReading& reading) {
  const kube::Scale& scale = *reading.scale;
  if (write.generation == 0 || reading.version == ScaleReading::kAsked) {
    return scale.resource_version != write.resource_version;
  }
  return scale.generation != 0 && scale.generation != write.generation;
}

// A removal whose answer was lost counts from when another count is seen, even if somebody else has
// set another count meanwhile, so that nobody can know whether it took effect. It also counts once
// the object has changed, since somebody may have set the old count again, and if the autoscaler
// has another target by then, since the history belongs to the autoscaler. An addition does not
// count: somebody else may have set the same count, and each addition allows removals later on.
// Neither do those that it may have replaced.
void NoteUnconfirmedWrite(const CycleInputs& inputs, absl::Time now, LastDecision& last,
                          WrittenSoFar& written) {
  if (!written.unconfirmed.has_value()) return;
  const UnconfirmedWrite& write = *written.unconfirmed;
  const int32_t replicas = inputs.scale.answer.spec_replicas;
  const bool same = inputs.scale.scale != nullptr && inputs.scale.scale->uid == write.uid;
  const bool removal = write.to < write.from;
  // By the rules in force then it may have replaced any other addition.
  if (!removal && last.plan != inputs.plan.version()) last.decision.state.scale_ups.clear();
  if (same && replicas == write.from && !(removal && HasChangedSince(write, inputs.scale))) {
    return;  // it may still be on its way to us
  }
  const std::optional<Behavior>& behavior = inputs.managed->autoscaler.behavior;
  if (removal && behavior.has_value()) {
    RecordScaleEvent(*behavior, write.from, write.to, now, last.decision.state);
  } else if (behavior.has_value()) {
    DropOutdatedAdditions(*behavior, now, last.decision.state);
  }
  if (same && replicas == write.to) written.seen_replicas = replicas;  // it is no foreign change
  written.unconfirmed.reset();
}

// A write that was sent in an earlier term, or for an earlier object of the same name, may have
// taken effect, and somebody else may have undone it, so the count does not show it. By the rules
// in force then an addition may have replaced any other one, which allows no removals any more.
void NoteWriteOfEarlierTerm(LastDecision& last, WrittenSoFar& written) {
  const std::optional<UnconfirmedWrite> write = std::exchange(written.unconfirmed, std::nullopt);
  if (!write.has_value()) return;
  if (write->to > write->from) return last.decision.state.scale_ups.clear();
  last.decision.state.scale_downs.push_back(
      {.change = WrapSub32(write->from, write->to), .time = write->time});
}

void RenewProposals(const std::vector<Reading>& readings, absl::Time now, Decision& decision) {
  decision.now = now;
  for (size_t i = 0; i < decision.proposals.size() && i < readings.size(); ++i) {
    Proposal& proposal = decision.proposals[i];
    proposal.reading_time = readings[i].timestamp;
    if (proposal.reading_time.has_value()) proposal.age = now - *proposal.reading_time;
  }
}

// Whether the metrics are those of the last decision. An outage, and what a metric asked for last,
// belong to its metric: an edit of the spec forgets them.
bool HasSameMetrics(const LastDecision& last, const CycleInputs& inputs) {
  return last.made && last.metrics == inputs.plan.metrics_id();
}

// The proposal of a metric of the plan in the last decision; nullptr: it was not read then, or
// another metric had its index.
const Proposal* LastProposal(const LastDecision& last, const CycleInputs& inputs, size_t index) {
  const std::vector<Proposal>& proposals = last.decision.proposals;
  const bool asked =
      HasSameMetrics(last, inputs) && last.decision.metrics_computed && index < proposals.size();
  return asked ? &proposals[index] : nullptr;
}

// Sets the count that a fallback asks for in place of the reading. If it differs from the earlier
// one the reading gets a new version, one above `last`, the highest so far.
void SetInstead(const std::optional<Reading::Instead>& instead, uint64_t& last, Reading& reading) {
  const bool same =
      instead.has_value() == reading.instead.has_value() &&
      (!instead.has_value() || (instead->replicas == reading.instead->replicas &&
                                instead->activity_only == reading.instead->activity_only));
  reading.instead = instead;  // the same count may stand for longer now
  if (!same) reading.version = ++last;
}

// The count that the trigger's own fallback asks for while `metric`, one of its metrics, is
// unknown. nullopt: it has no fallback of its own, or that does not count yet.
std::optional<Reading::Instead> CountOfTrigger(TrackedAutoscaler& tracked, size_t trigger,
                                               size_t metric, const DecisionTimes& now) {
  const CycleInputs& inputs = tracked.inputs;
  const Autoscaler& written = inputs.managed->autoscaler;
  const MetricFallback* fallback =
      FallbackOfTrigger(inputs.managed->own, written.metrics.size(), trigger);
  if (fallback == nullptr) return std::nullopt;
  MetricOutage& outage = tracked.decided.outages[metric];
  NoteFailure(LastProposal(tracked.decided, inputs, metric), now.monotonic, outage);
  return CountInstead(*fallback, outage,
                      {.current = inputs.scale.answer.spec_replicas,
                       .min = written.min_or_default(),
                       .max = written.max_replicas},
                      now);
}

// Adds the removals in `own` that the state lacks. Saved ones have later times there, and the state
// may contain the change of the count as one of them.
void KeepRemovals(const std::vector<ScaleEvent>& own, ScalerState& state) {
  std::vector<ScaleEvent> known = state.scale_downs;
  for (const ScaleEvent& removal : own) {
    const auto same = std::find_if(known.begin(), known.end(), [&](const ScaleEvent& other) {
      return other.change == removal.change && other.time >= removal.time;
    });
    if (same == known.end()) {
      state.scale_downs.push_back(removal);
    } else {
      known.erase(same);
    }
  }
}

absl::Duration LongestWindowOf(const MathConfig& config) {
  return std::max(kLongestWindow, config.downscale_stabilization);
}

}  // namespace

bool Settled(const Decision& decision, absl::Time& until) {
  if (decision.outcome != Outcome::kDecided || decision.rescale || !decision.error.empty() ||
      decision.pending.has_value() || decision.recommendation != decision.current ||
      !decision.stabilization.has_value() || decision.stabilization->after != decision.current ||
      !decision.limiting.has_value() || decision.limiting->by != LimitedBy::kNothing ||
      !decision.events.empty()) {
    return false;
  }
  until = absl::InfiniteFuture();
  for (const Proposal& proposal : decision.proposals) {
    if (!proposal.valid) return false;
    until = std::min(until, proposal.valid_until);
  }
  return true;
}

bool DecideStep::InputsChanged(const CycleInputs& inputs, const LastDecision& last) {
  const Decision::Basis& basis = last.decision.basis;
  if (!last.made || !inputs.reads_metrics || basis.spec_version != inputs.plan.version() ||
      basis.pods_version != inputs.pods.answer.version ||
      basis.spec_replicas != inputs.scale.answer.spec_replicas ||
      basis.status_replicas != inputs.scale.answer.status_replicas || last.mode != inputs.mode ||
      basis.reading_versions.size() != inputs.readings.size()) {
    return true;
  }
  // The generation also changes without the spec, when a deletion waits for finalizers.
  if (inputs.config().observes_generation &&
      last.status.observed_generation != inputs.plan.autoscaler().generation) {
    return true;
  }
  for (size_t i = 0; i < inputs.readings.size(); ++i) {
    if (basis.reading_versions[i] != inputs.readings[i].version) return true;
  }
  return false;
}

bool DecideStep::IsNews(const CycleInputs& inputs, const LastDecision& last) {
  // Without the scale nothing else was looked at, so it does not matter what has changed since.
  if (inputs.triggers_changed || last.decision.outcome == Outcome::kScaleUnknown) return true;
  if (inputs.reads_metrics || !last.made) return InputsChanged(inputs, last);
  // No metric is read at this number of replicas, so only the count, spec and mode matter.
  return last.decision.current != inputs.scale.answer.spec_replicas || last.mode != inputs.mode ||
         last.plan != inputs.plan.version();
}

void DecideStep::Prolong(MonotonicTime now, LastDecision& last) {
  // The time by the wall clock of the last decision. If that clock was set since, the next decision
  // moves this time with all others.
  const absl::Time time = absl::UnixEpoch() + now + last.wall_offset;
  if (last.activation.has_value() && last.activation->active) {
    last.last_active = std::max(last.last_active, std::optional(time));
  }
  if (last.decision.outcome == Outcome::kDecided) {
    RenewRecommendation(last.decision.recommendation, time, last.decision.state);
    if (last.prolonged != nullptr) last.prolonged->AddRound(time, now, absl::InfinitePast());
  }
}

void DecideStep::TakePods(CycleInputs& inputs) const {
  auto& [selected, owned_only, view, answer, failure] = inputs.pods;
  const std::string& ns = inputs.managed->key.ns;
  if (failure.empty()) failure = deps_.pods.Failure(ns);
  if (!inputs.reads_metrics) return;
  answer.selector_error = inputs.scale.selector_error;
  answer.list_error = answer.selector_error.empty() ? deps_.pods.Unusable(ns) : "";
  if (selected == nullptr || !answer.list_error.empty()) {
    answer.version = 0;
    return;
  }
  if (selected->version() != view.version) {
    const Autoscaler& autoscaler = inputs.plan.autoscaler();
    view = deps_.pods.View(*selected, inputs.managed->key.kind, autoscaler.metrics,
                           inputs.config().requests);
    answer.rivals = view.rivals;
  }
  answer.table = view.table.get();
  answer.version = view.version;
}

void DecideStep::TakeMetric(CycleInputs& inputs, size_t index, bool pods_changed, absl::Time now,
                            DecideScratch& scratch) const {
  const QuestionBoard::Handle& question = inputs.plan.metric_questions()[index];
  Reading& reading = inputs.readings[index];
  const LastAnswer last =
      question == nullptr ? LastAnswer() : QuestionBoard::LastAnswerOf(*question);
  const AnswerPtr& answer = last.answer;
  if (answer == nullptr) {
    reading = Reading();
    if (question != nullptr) reading.error = "it was not asked yet";
    return;
  }
  const MetricSpec& metric = inputs.plan.autoscaler().metrics[index];
  const bool times_matter =
      metric.resource == "cpu" &&
      inputs.pods.view.last_start + inputs.config().cpu_initialization_period > now;
  if (last.version == inputs.answers[index] && !pods_changed && !times_matter &&
      reading.version != 0) {
    if (reading.error.empty()) reading.timestamp = SampleTimeOf(last);
    return;
  }
  inputs.answers[index] = last.version;
  MakeReading(last, metric, *inputs.pods.answer.table, scratch.reading);
  if (inputs.pods.owned_only) DropStrangers(scratch.reading);
  TakeReading(scratch.reading, times_matter, inputs.last_reading + 1, reading);
  inputs.last_reading = std::max(inputs.last_reading, reading.version);
}

void DecideStep::TakeTriggers(CycleInputs& inputs, absl::Time now) {
  inputs.trigger_readings.clear();
  inputs.trigger_answers.resize(inputs.plan.triggers().size());
  for (size_t i = 0; i < inputs.plan.triggers().size(); ++i) {
    const QuestionBoard::Handle& question = inputs.plan.triggers()[i].question;
    const LastAnswer last =
        question == nullptr ? LastAnswer() : QuestionBoard::LastAnswerOf(*question);
    const AnswerPtr& answer = last.answer;
    if (answer != nullptr) inputs.plan.LearnTriggerMetrics(i, *answer);
    inputs.triggers_changed = inputs.triggers_changed || inputs.trigger_answers[i] != last.version;
    inputs.trigger_answers[i] = last.version;
    const Plan::PlannedTrigger& trigger = inputs.plan.triggers()[i];
    for (size_t j = 0; j < trigger.metrics.size(); ++j) {
      const bool has_reading = answer != nullptr && j < answer->trigger_readings.size();
      if (has_reading && answer->error.empty()) {
        TriggerReading& reading = inputs.trigger_readings.emplace_back(answer->trigger_readings[j]);
        if (!trigger.error.empty() && reading.front.has_value() && reading.front->ready) {
          reading.front = FrontReadiness{
              .ready = false,
              .reason = "InvalidTrigger",
              .message = absl::StrCat(trigger.error, "; its requests are carried as before")};
        }
        continue;
      }
      TriggerReading unknown{.error = trigger.error, .time = now};
      if (unknown.error.empty()) unknown.error = answer == nullptr ? "" : answer->error;
      if (unknown.error.empty()) unknown.error = "it was not asked yet";
      unknown.active = has_reading && answer->trigger_readings[j].active;
      inputs.trigger_readings.push_back(std::move(unknown));
    }
  }
}

void DecideStep::TakeReadings(CycleInputs& inputs, absl::Time now, DecideScratch& scratch) const {
  TakeTriggers(inputs, now);
  if (inputs.readings_plan != inputs.plan.version()) {
    // The readings are those of an earlier plan's metrics.
    inputs.readings_plan = inputs.plan.version();
    const size_t metrics = inputs.plan.autoscaler().metrics.size();
    inputs.readings.assign(metrics, Reading());
    inputs.answers.assign(metrics, 0);
    inputs.pods.view.version = 0;  // the view has a column for each of the plan's metrics
  }
  const uint64_t& pods = inputs.pods.answer.version;
  const uint64_t pods_before = pods;
  TakePods(inputs);
  // Without pods the math holds without looking at any reading.
  if (!inputs.reads_metrics || pods == 0) return;
  for (size_t i = 0; i < inputs.plan.metric_questions().size(); ++i) {
    TakeMetric(inputs, i, pods != pods_before, now, scratch);
  }
}

// Metrics that are unknown ask for what their fallbacks say.
void DecideStep::ApplyFallbacks(TrackedAutoscaler& tracked, const Times& now) {
  CycleInputs& inputs = tracked.inputs;
  LastDecision& last = tracked.decided;
  const auto& fallbacks = inputs.managed->own.metric_fallbacks;
  if (fallbacks.empty() || !HasSameMetrics(last, inputs)) last.outages.clear();
  if (fallbacks.empty()) return;
  const Autoscaler& autoscaler = inputs.plan.autoscaler();
  last.outages.resize(autoscaler.metrics.size());
  // The outages of triggers come after those of the metrics. They stay, since triggers are read at
  // zero replicas too (ReadTriggers).
  const size_t metrics = std::min(inputs.managed->autoscaler.metrics.size(), fallbacks.size());
  if (!inputs.reads_metrics) std::fill_n(last.outages.begin(), metrics, MetricOutage());
  for (size_t i = 0; inputs.reads_metrics && i < metrics && i < inputs.readings.size(); ++i) {
    Reading& reading = inputs.readings[i];
    if (reading.error.empty()) last.outages[i] = {};
    if (reading.error.empty() || !fallbacks[i].has_value()) continue;
    NoteFailure(LastProposal(last, inputs, i), now.monotonic, last.outages[i]);
    const std::optional<Reading::Instead> instead =
        CountInstead(*fallbacks[i], last.outages[i],
                     {.current = inputs.scale.answer.spec_replicas,
                      .min = autoscaler.min_or_default(),
                      .max = autoscaler.max_replicas},
                     now);
    SetInstead(instead, inputs.last_reading, reading);
  }
}

// Counts failures, applies fallbacks, and appends the readings of all triggers to those of the
// metrics.
void DecideStep::ReadTriggers(TrackedAutoscaler& tracked, const Times& now,
                              DecideScratch& scratch) {
  CycleInputs& inputs = tracked.inputs;
  const OwnSpec& own = inputs.managed->own;
  std::vector<MetricOutage>& outages = tracked.decided.outages;
  size_t next = 0;
  for (size_t i = 0; i < inputs.plan.triggers().size(); ++i) {
    Plan::PlannedTrigger& trigger = inputs.plan.triggers()[i];
    const bool has_own =
        FallbackOfTrigger(own, inputs.managed->autoscaler.metrics.size(), i) != nullptr;
    for (size_t j = 0; j < trigger.metrics.size(); ++j, ++next) {
      TriggerReading& raw = inputs.trigger_readings[next];
      const size_t metric = trigger.first + j;
      const bool unknown = raw.failed();
      trigger.failures[j] = unknown ? trigger.failures[j] + 1 : 0;
      std::optional<Reading::Instead> instead;
      // No replica is taken away for it, until all go for lack of activity.
      if (raw.activity_only) {
        instead =
            Reading::Instead{.replicas = inputs.scale.answer.spec_replicas, .activity_only = true};
      }
      if (has_own && unknown) {
        instead = CountOfTrigger(tracked, i, metric, now);
      } else if (has_own) {
        outages[metric] = {};
      } else if (own.fallback.has_value()) {
        // If no metric is read the pods are out of date, since at zero replicas there are none.
        const bool known = inputs.reads_metrics && inputs.pods.answer.version != 0;
        const PodTable* table = known ? inputs.pods.answer.table : nullptr;
        raw = ApplyFallback({.metric = trigger.metrics[j],
                             .reading = raw,
                             .fallback = *own.fallback,
                             .failures = trigger.failures[j],
                             .ready_pods = table == nullptr
                                               ? 0
                                               : static_cast<int32_t>(table->running_and_ready())});
      }
      MakeTriggerReading(raw, scratch.reading);
      Reading& reading = inputs.readings[metric];
      TakeReading(scratch.reading, false, inputs.last_reading + 1, reading);
      inputs.last_reading = std::max(inputs.last_reading, reading.version);
      SetInstead(instead, inputs.last_reading, reading);
      if (has_own && unknown) raw = ActivityInstead(raw, instead);
    }
  }
}

void DecideStep::RestoreState(const CycleInputs& inputs, absl::Time now, LastDecision& last) const {
  // The state of a shard that is being handed over is kept for a moment longer.
  const AutoscalerKey& key = inputs.managed->key;
  if (last.restored || !deps_.ownership.Owns(key) || !deps_.ownership.Remembers(key)) return;
  // The count is compared with what was saved: it must not be from before the last write.
  if (!inputs.scale.failure.empty()) return;
  last.restored = true;
  const int32_t current = inputs.scale.answer.spec_replicas;
  ScalerState& state = last.decision.state;
  std::vector<Recommendation> own = std::exchange(last.recommended_before, {});
  std::optional<RememberedState> earlier = deps_.ownership.Restore(key, current, now);
  if (earlier.has_value()) {
    last.put_to_sleep = earlier->put_to_sleep;
    own.insert(own.end(), state.recommendations.begin(), state.recommendations.end());
    const std::vector<ScaleEvent> removed = std::move(state.scale_downs);
    state = std::move(earlier->state);
    KeepRemovals(removed, state);
    // Other owners may have replaced its additions since, and their age is known only by a wall
    // clock. It is safe to forget them, and the stock controller knows none after a start either.
    if (!earlier->complete) state.scale_ups.clear();
  } else if (!own.empty()) {
    // Nothing is known of the owners since then: the count stands for their recommendations.
    own.push_back({.replicas = current, .time = now - absl::Microseconds(1)});
  }
  if (!own.empty()) KeepRecommendations(own, now, LongestWindowOf(inputs.config()), state);
}

void DecideStep::PrepareState(TrackedAutoscaler& tracked, const Times& now) const {
  const CycleInputs& inputs = tracked.inputs;
  LastDecision& last = tracked.decided;
  WrittenSoFar& written = tracked.written;
  // Before the first decision there is nothing that this would move.
  const absl::Duration offset = now.WallOffset();
  const absl::Duration jump = offset - std::exchange(last.wall_offset, offset);
  if (IsClockJump(jump)) {
    ShiftTimes(jump, last.decision.state);
    for (Recommendation& item : last.recommended_before) item.time += jump;
    if (last.last_active.has_value()) *last.last_active += jump;
    if (written.unconfirmed.has_value()) written.unconfirmed->time += jump;
  }
  TakeStoredStatus(tracked);
  if (!last.made || last.status_is_old) {
    NoteWriteOfEarlierTerm(last, written);
    last.last_active =
        std::max(last.last_active, TakeOverActivity(inputs.managed->last_active,
                                                    MayHaveBeenActive(inputs, now.wall), now.wall));
  }
  // Additions that were seen while we did not act may not be ours, so they allow us no removals.
  if (inputs.mode == Mode::kAct && last.mode != Mode::kAct) last.decision.state.scale_ups.clear();
  last.status_is_old = false;
  last.made = true;
  if (inputs.scale.answer.failure != ScaleAnswer::Failure::kNone) return;
  RestoreState(inputs, now.wall, last);
  NoteUnconfirmedWrite(inputs, now.wall, last, written);
  NoteForeignScale(inputs, now.wall, last, written);
}

DecisionInput DecideStep::InputOf(const TrackedAutoscaler& tracked, absl::Time now) const {
  const CycleInputs& inputs = tracked.inputs;
  DecisionInput input;
  input.autoscaler = &inputs.plan.autoscaler();
  input.status = &tracked.decided.status;
  input.scale = &inputs.scale.answer;
  input.pods = &inputs.pods.answer;
  if (inputs.reads_metrics) input.readings = inputs.readings;
  input.config = &inputs.config();
  input.state = &tracked.decided.decision.state;
  input.now = now;
  input.spec_version = inputs.plan.version();
  return input;
}

void DecideStep::Decide(TrackedAutoscaler& tracked, const Times& now,
                        DecideScratch& scratch) const {
  CycleInputs& inputs = tracked.inputs;
  LastDecision& last = tracked.decided;
  ApplyFallbacks(tracked, now);
  const bool reads_other = InputsChanged(inputs, last);
  const bool was_restored = last.restored;
  PrepareState(tracked, now);
  // Its remembered state is another input.
  const bool changed = reads_other || last.restored != was_restored;
  const bool triggered =
      !inputs.plan.triggers().empty() && inputs.scale.answer.failure == ScaleAnswer::Failure::kNone;
  last.activation.reset();
  if (triggered) {
    ReadTriggers(tracked, now, scratch);
    last.activation = DecideActivation({.readings = inputs.trigger_readings,
                                        .current = inputs.scale.answer.spec_replicas,
                                        .min_replicas = inputs.managed->autoscaler.min_or_default(),
                                        .max_replicas = inputs.managed->autoscaler.max_replicas,
                                        .cooldown = inputs.managed->own.cooldown,
                                        .last_active = last.last_active,
                                        .created = inputs.managed->created,
                                        .now = now.wall});
    last.last_active = last.activation->last_active;
  }
  absl::Time until;
  last.unchanged = !changed && !triggered && Settled(last.decision, until) && now.wall < until &&
                   RenewRecommendation(last.decision.recommendation, now.wall, last.decision.state);
  last.at = now.monotonic;
  last.mode = inputs.mode;
  last.plan = inputs.plan.version();
  last.metrics = inputs.plan.metrics_id();
  last.prolonged = inputs.managed->own.cadence.on_sample ? std::make_shared<Steadiness>() : nullptr;
  inputs.triggers_changed = false;
  if (last.unchanged) return RenewProposals(inputs.readings, now.wall, last.decision);

  const DecisionInput input = InputOf(tracked, now.wall);
  ScalerState& state = last.decision.state;
  scratch.recommendations.assign(state.recommendations.begin(), state.recommendations.end());
  DeciderOf(*input.autoscaler).Decide(input, {}, scratch.workspace, last.decision);
  if (last.activation.has_value()) ApplyActivation(input, *last.activation, last.decision);
  if (inputs.managed->key.kind == AutoscalerKind::kOwn && !CarriesRequests(inputs.managed->own)) {
    RemoveCondition(kFrontReady, last.decision.status.conditions);
  }
  KeepRecommendations(scratch.recommendations, now.wall, LongestWindowOf(*input.config), state);
}

}  // namespace flyball::scaler
