#include "scaler/steps/decide_step.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "scaler/math/conditions.h"
#include "scaler/math/history.h"
#include "scaler/steps/apply_activation.h"
#include "scaler/steps/reading_maker.h"
#include "scaler/stores/state_upkeep.h"
#include "scaler/triggers/fallback.h"

namespace flyball::scaler {
namespace {

// What the status says that the triggers were, when it was written last.
bool WasActive(const AutoscalerStatus& status) {
  return std::any_of(
      status.conditions.begin(), status.conditions.end(), [](const Condition& condition) {
        return condition.type == kActive && condition.status == ConditionStatus::kTrue;
      });
}

// What the math would find in readings that nobody took.
void Forget(Reading& reading) { reading = Reading(); }

// In shadow the scale is another controller's: its changes count for the policies as ours would.
void NoteForeignScale(Entry& entry, absl::Time now) {
  const int32_t replicas = entry.scale.answer.spec_replicas;
  const std::optional<Behavior>& behavior = entry.managed->autoscaler.behavior;
  if (entry.mode != Mode::kAct && entry.seen_replicas.has_value() &&
      *entry.seen_replicas != replicas && behavior.has_value()) {
    RecordScaleEvent(*behavior, *entry.seen_replicas, replicas, now, entry.decision.state);
  }
  entry.seen_replicas = replicas;
}

// A write whose answer was lost and that is seen to have had its effect counts like any other.
// When it was made is not known: an addition, which allows removals, counts from when it was sent,
// a removal from when it is seen.
void NoteUnconfirmedWrite(Entry& entry, absl::Time now) {
  if (!entry.unconfirmed.has_value()) return;
  const UnconfirmedWrite& write = *entry.unconfirmed;
  const int32_t replicas = entry.scale.answer.spec_replicas;
  if (replicas == write.from) return;  // it may still be on its way to us
  const std::optional<Behavior>& behavior = entry.managed->autoscaler.behavior;
  if (replicas == write.to && behavior.has_value()) {
    RecordScaleEvent(*behavior, write.from, write.to, write.to > write.from ? write.time : now,
                     entry.decision.state);
  }
  if (replicas == write.to) entry.seen_replicas = replicas;  // it is no foreign change
  entry.unconfirmed.reset();
}

// Conditions of types that are not the scaler's stay as they are stored, where they are stored.
void KeepForeignConditions(const Managed& managed, std::vector<Condition>& conditions) {
  const std::vector<Condition>& stored = managed.autoscaler.status.conditions;
  const auto foreign = [&managed](const Condition& condition) {
    return condition.type != kAbleToScale && condition.type != kScalingActive &&
           condition.type != kScalingLimited &&
           (condition.type != kActive || managed.key.kind != AutoscalerKind::kOwn);
  };
  if (std::none_of(stored.begin(), stored.end(), foreign) &&
      std::none_of(conditions.begin(), conditions.end(), foreign)) {
    return;
  }
  std::vector<Condition> ours;
  std::remove_copy_if(conditions.begin(), conditions.end(), std::back_inserter(ours), foreign);
  conditions.clear();
  for (const Condition& condition : stored) {
    if (foreign(condition)) {
      conditions.push_back(condition);
      continue;
    }
    const auto found = std::find_if(ours.begin(), ours.end(), [&condition](const Condition& one) {
      return one.type == condition.type;
    });
    if (found == ours.end()) continue;
    conditions.push_back(std::move(*found));
    ours.erase(found);
  }
  std::move(ours.begin(), ours.end(), std::back_inserter(conditions));
}

void RenewProposals(const std::vector<Reading>& readings, absl::Time now, Decision& decision) {
  decision.now = now;
  for (size_t i = 0; i < decision.proposals.size() && i < readings.size(); ++i) {
    Proposal& proposal = decision.proposals[i];
    proposal.reading_time = readings[i].timestamp;
    if (proposal.reading_time.has_value()) proposal.age = now - *proposal.reading_time;
  }
}

}  // namespace

bool Settled(const Decision& decision, absl::Time& until) {
  if (decision.outcome != Outcome::kDecided || decision.rescale || !decision.error.empty() ||
      decision.recommendation != decision.current || !decision.stabilization.has_value() ||
      decision.stabilization->after != decision.current || !decision.limiting.has_value() ||
      decision.limiting->by != LimitedBy::kNothing || !decision.events.empty()) {
    return false;
  }
  until = absl::InfiniteFuture();
  for (const Proposal& proposal : decision.proposals) {
    if (!proposal.valid) return false;
    until = std::min(until, proposal.valid_until);
  }
  return true;
}

bool DecideStep::InputsChanged(const Entry& entry) {
  const Decision::Basis& basis = entry.decision.basis;
  if (!entry.decided || !entry.reads_metrics || basis.spec_version != entry.plan.version() ||
      basis.pods_version != entry.pods.version ||
      basis.spec_replicas != entry.scale.answer.spec_replicas ||
      basis.status_replicas != entry.scale.answer.status_replicas ||
      entry.decided_mode != entry.mode || basis.reading_versions.size() != entry.readings.size()) {
    return true;
  }
  for (size_t i = 0; i < entry.readings.size(); ++i) {
    if (basis.reading_versions[i] != entry.readings[i].version) return true;
  }
  return false;
}

bool DecideStep::IsNews(const Entry& entry) {
  if (entry.triggers_changed) return true;
  if (entry.reads_metrics || !entry.decided) return InputsChanged(entry);
  // No metric is read at this count of replicas: what is left is the count, the spec, the mode.
  return entry.decision.current != entry.scale.answer.spec_replicas ||
         entry.decided_mode != entry.mode || entry.decided_plan != entry.plan.version();
}

void DecideStep::TakePods(Entry& entry) const {
  PodsAnswer& pods = entry.pods;
  pods.selector_error = entry.scale.selector_error;
  pods.list_error = pods.selector_error.empty() ? parts_.pods.Unusable() : "";
  if (entry.group == nullptr || !pods.list_error.empty()) {
    pods.version = 0;
    return;
  }
  if (entry.group->version() != entry.view.version || entry.view_plan != entry.plan.version()) {
    entry.view = parts_.pods.View(*entry.group, entry.key.kind, entry.plan.autoscaler().metrics);
    entry.view_plan = entry.plan.version();
    pods.rivals = entry.view.rivals;
  }
  pods.table = entry.view.table.get();
  pods.version = entry.view.version;
}

void DecideStep::TakeMetric(Entry& entry, size_t index, const Times& now,
                            DecideScratch& scratch) const {
  const QuestionBoard::Handle& question = entry.plan.metric_questions()[index];
  Reading& reading = entry.readings[index];
  const Told told = question == nullptr ? Told() : QuestionBoard::ToldOf(*question);
  const AnswerPtr& answer = told.answer;
  if (answer == nullptr) return Forget(reading);
  const MetricSpec& metric = entry.plan.autoscaler().metrics[index];
  const bool times_matter =
      metric.resource == "cpu" &&
      entry.view.last_start + parts_.config.cpu_initialization_period > now.wall;
  if (answer->version == entry.answers[index] && !entry.pods_changed && !times_matter &&
      reading.version != 0) {
    if (reading.error.empty()) reading.timestamp = SampleTimeOf(told);
    return;
  }
  entry.answers[index] = answer->version;
  MakeReading(told, metric, *entry.pods.table, scratch.reading);
  TakeReading(scratch.reading, times_matter, entry.last_reading + 1, reading);
  entry.last_reading = std::max(entry.last_reading, reading.version);
}

void DecideStep::TakeTriggers(Entry& entry, absl::Time now) {
  entry.trigger_readings.clear();
  entry.trigger_answers.resize(entry.plan.triggers().size());
  for (size_t i = 0; i < entry.plan.triggers().size(); ++i) {
    const QuestionBoard::Handle& question = entry.plan.triggers()[i].question;
    const AnswerPtr answer = question == nullptr ? nullptr : QuestionBoard::AnswerOf(*question);
    if (answer != nullptr) entry.plan.LearnTriggerMetrics(i, *answer);
    const uint64_t version = answer == nullptr ? 0 : answer->version;
    entry.triggers_changed = entry.triggers_changed || entry.trigger_answers[i] != version;
    entry.trigger_answers[i] = version;
    const Plan::PlannedTrigger& trigger = entry.plan.triggers()[i];
    for (size_t j = 0; j < trigger.metrics.size(); ++j) {
      if (answer != nullptr && answer->error.empty() && j < answer->trigger_readings.size()) {
        entry.trigger_readings.push_back(answer->trigger_readings[j]);
        continue;
      }
      TriggerReading unknown{.error = trigger.error, .time = now};
      if (unknown.error.empty()) unknown.error = answer == nullptr ? "" : answer->error;
      if (unknown.error.empty()) unknown.error = "it was not asked yet";
      entry.trigger_readings.push_back(std::move(unknown));
    }
  }
}

void DecideStep::TakeReadings(Entry& entry, const Times& now, DecideScratch& scratch) const {
  TakeTriggers(entry, now.wall);
  if (entry.readings_plan != entry.plan.version()) {
    // What was read for a metric says nothing of the one that has its place now.
    entry.readings_plan = entry.plan.version();
    const size_t metrics = entry.plan.autoscaler().metrics.size();
    entry.readings.assign(metrics, Reading());
    entry.answers.assign(metrics, 0);
  }
  if (!entry.reads_metrics) return;
  TakePods(entry);
  entry.pods_changed = entry.readings_pods != entry.pods.version || entry.pods.version == 0;
  entry.readings_pods = entry.pods.version;
  if (entry.pods.version == 0) return;  // the math holds before it looks at a reading
  for (size_t i = 0; i < entry.plan.metric_questions().size(); ++i) {
    TakeMetric(entry, i, now, scratch);
  }
}

// Counts failures and puts the readings of all triggers behind those of the metrics.
void DecideStep::ReadTriggers(Entry& entry, DecideScratch& scratch) {
  const std::optional<Fallback>& fallback = entry.managed->own.fallback;
  size_t next = 0;
  for (Plan::PlannedTrigger& trigger : entry.plan.triggers()) {
    for (size_t j = 0; j < trigger.metrics.size(); ++j, ++next) {
      TriggerReading& raw = entry.trigger_readings[next];
      trigger.failures[j] = raw.error.empty() ? 0 : trigger.failures[j] + 1;
      if (fallback.has_value()) {
        // Where no metric is read the pods are not of now: at zero replicas there are none.
        const bool known = entry.reads_metrics && entry.pods.version != 0;
        const PodTable* table = known ? entry.pods.table : nullptr;
        raw = ApplyFallback({.metric = trigger.metrics[j],
                             .reading = raw,
                             .fallback = *fallback,
                             .failures = trigger.failures[j],
                             .ready_pods = table == nullptr
                                               ? 0
                                               : static_cast<int32_t>(table->running_and_ready())});
      }
      MakeTriggerReading(raw, scratch.reading);
      TakeReading(scratch.reading, false, entry.last_reading + 1,
                  entry.readings[trigger.first + j]);
      entry.last_reading = std::max(entry.last_reading, entry.readings[trigger.first + j].version);
    }
  }
}

void DecideStep::PrepareState(Entry& entry, const Times& now) const {
  const absl::Duration offset = now.WallOffset();
  // What is stored is what to go on from where nothing was decided yet, where another object has
  // taken the name, and where another controller has written the status until now.
  const bool takes_over = entry.mode == Mode::kAct && entry.decided_mode != Mode::kAct;
  if (!entry.decided || entry.status_is_old || takes_over) {
    entry.status = entry.managed->autoscaler.status;
  } else if (entry.marks.seen != entry.managed) {
    KeepForeignConditions(*entry.managed, entry.status.conditions);
  }
  if (!entry.decided || entry.status_is_old) {
    entry.last_active = TakeOverActivity(entry.managed->last_active,
                                         WasActive(entry.managed->autoscaler.status), now.wall);
  }
  // Whose additions were seen meanwhile nobody knows: they allow no removals to us.
  if (takes_over) entry.decision.state.scale_ups.clear();
  entry.status_is_old = false;
  if (!entry.decided) {
    entry.decision = Decision();
    entry.unconfirmed.reset();
    entry.wall_offset = offset;
    entry.decided = true;
  }
  const absl::Duration jump = offset - entry.wall_offset;
  if (IsClockJump(jump)) {
    ShiftTimes(jump, entry.decision.state);
    if (entry.last_active.has_value()) *entry.last_active += jump;
    if (entry.unconfirmed.has_value()) entry.unconfirmed->time += jump;
  }
  entry.wall_offset = offset;
  if (entry.scale.answer.failure != ScaleAnswer::Failure::kNone) return;
  if (!entry.restored && parts_.ownership.Remembers(entry.key)) {
    entry.restored = true;
    std::optional<RememberedState> earlier =
        parts_.ownership.Restore(entry.key, entry.scale.answer.spec_replicas, now.wall);
    if (earlier.has_value()) {
      entry.decision.state = std::move(earlier->state);
      const std::optional<Behavior>& behavior = entry.managed->autoscaler.behavior;
      if (!earlier->complete && behavior.has_value()) {
        DropReplaceableAdditions(*behavior, now.wall, entry.decision.state);
      }
    }
  }
  NoteUnconfirmedWrite(entry, now.wall);
  NoteForeignScale(entry, now.wall);
}

DecisionInput DecideStep::InputOf(const Entry& entry, absl::Time now) const {
  DecisionInput input;
  input.autoscaler = &entry.plan.autoscaler();
  input.status = &entry.status;
  input.scale = &entry.scale.answer;
  input.pods = &entry.pods;
  if (entry.reads_metrics) input.readings = entry.readings;
  input.config = &parts_.config;
  input.state = &entry.decision.state;
  input.now = now;
  input.spec_version = entry.plan.version();
  return input;
}

void DecideStep::Decide(Entry& entry, const Times& now, DecideScratch& scratch) const {
  const bool changed = InputsChanged(entry);
  PrepareState(entry, now);
  const bool triggered =
      !entry.plan.triggers().empty() && entry.scale.answer.failure == ScaleAnswer::Failure::kNone;
  entry.activation.reset();
  if (triggered) {
    ReadTriggers(entry, scratch);
    entry.activation = DecideActivation({.readings = entry.trigger_readings,
                                         .current = entry.scale.answer.spec_replicas,
                                         .min_replicas = entry.managed->autoscaler.min_or_default(),
                                         .cooldown = entry.managed->own.cooldown,
                                         .last_active = entry.last_active,
                                         .created = entry.managed->created,
                                         .now = now.wall});
    entry.last_active = entry.activation->last_active;
  }
  absl::Time until;
  entry.unchanged =
      !changed && !triggered && Settled(entry.decision, until) && now.wall < until &&
      RenewRecommendation(entry.decision.recommendation, now.wall, entry.decision.state);
  entry.decided_at = now.monotonic;
  entry.decided_mode = entry.mode;
  entry.decided_plan = entry.plan.version();
  entry.triggers_changed = false;
  if (entry.unchanged) return RenewProposals(entry.readings, now.wall, entry.decision);

  const DecisionInput input = InputOf(entry, now.wall);
  ScalerState& state = entry.decision.state;
  scratch.recommendations.assign(state.recommendations.begin(), state.recommendations.end());
  scaler::Decide(input, {}, scratch.workspace, entry.decision);
  if (entry.activation.has_value()) ApplyActivation(input, *entry.activation, entry.decision);
  KeepRecommendations(scratch.recommendations, now.wall,
                      std::max(kLongestWindow, parts_.config.downscale_stabilization), state);
}

}  // namespace flyball::scaler
