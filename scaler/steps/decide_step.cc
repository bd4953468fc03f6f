#include "scaler/steps/decide_step.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "scaler/math/history.h"
#include "scaler/math/recording.h"
#include "scaler/steps/apply_activation.h"
#include "scaler/steps/decider_of.h"
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
void NoteForeignScale(TrackedAutoscaler& tracked, absl::Time now) {
  const int32_t replicas = tracked.scale.answer.spec_replicas;
  const std::optional<Behavior>& behavior = tracked.managed->autoscaler.behavior;
  if (tracked.mode != Mode::kAct && tracked.seen_replicas.has_value() &&
      *tracked.seen_replicas != replicas && behavior.has_value()) {
    RecordScaleEvent(*behavior, *tracked.seen_replicas, replicas, now, tracked.decision.state);
  }
  tracked.seen_replicas = replicas;
}

// A write whose answer was lost and that is seen to have had its effect counts like any other.
// When it was made is not known: an addition, which allows removals, counts from when it was sent,
// a removal from when it is seen.
void NoteUnconfirmedWrite(TrackedAutoscaler& tracked, absl::Time now) {
  if (!tracked.unconfirmed.has_value()) return;
  const UnconfirmedWrite& write = *tracked.unconfirmed;
  const int32_t replicas = tracked.scale.answer.spec_replicas;
  if (replicas == write.from) return;  // it may still be on its way to us
  const std::optional<Behavior>& behavior = tracked.managed->autoscaler.behavior;
  if (replicas == write.to && behavior.has_value()) {
    RecordScaleEvent(*behavior, write.from, write.to, write.to > write.from ? write.time : now,
                     tracked.decision.state);
  }
  if (replicas == write.to) tracked.seen_replicas = replicas;  // it is no foreign change
  tracked.unconfirmed.reset();
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

bool DecideStep::InputsChanged(const TrackedAutoscaler& tracked) {
  const Decision::Basis& basis = tracked.decision.basis;
  if (!tracked.decided || !tracked.reads_metrics || basis.spec_version != tracked.plan.version() ||
      basis.pods_version != tracked.pods.version ||
      basis.spec_replicas != tracked.scale.answer.spec_replicas ||
      basis.status_replicas != tracked.scale.answer.status_replicas ||
      tracked.decided_mode != tracked.mode ||
      basis.reading_versions.size() != tracked.readings.size()) {
    return true;
  }
  for (size_t i = 0; i < tracked.readings.size(); ++i) {
    if (basis.reading_versions[i] != tracked.readings[i].version) return true;
  }
  return false;
}

bool DecideStep::IsNews(const TrackedAutoscaler& tracked) {
  if (tracked.triggers_changed) return true;
  if (tracked.reads_metrics || !tracked.decided) return InputsChanged(tracked);
  // No metric is read at this count of replicas: what is left is the count, the spec, the mode.
  return tracked.decision.current != tracked.scale.answer.spec_replicas ||
         tracked.decided_mode != tracked.mode || tracked.decided_plan != tracked.plan.version();
}

void DecideStep::TakePods(TrackedAutoscaler& tracked) const {
  PodsAnswer& pods = tracked.pods;
  pods.selector_error = tracked.scale.selector_error;
  pods.list_error = pods.selector_error.empty() ? deps_.pods.Unusable() : "";
  if (tracked.group == nullptr || !pods.list_error.empty()) {
    pods.version = 0;
    return;
  }
  if (tracked.group->version() != tracked.view.version ||
      tracked.view_plan != tracked.plan.version()) {
    tracked.view =
        deps_.pods.View(*tracked.group, tracked.key.kind, tracked.plan.autoscaler().metrics);
    tracked.view_plan = tracked.plan.version();
    pods.rivals = tracked.view.rivals;
  }
  pods.table = tracked.view.table.get();
  pods.version = tracked.view.version;
}

void DecideStep::TakeMetric(TrackedAutoscaler& tracked, size_t index, const Times& now,
                            DecideScratch& scratch) const {
  const QuestionBoard::Handle& question = tracked.plan.metric_questions()[index];
  Reading& reading = tracked.readings[index];
  const LastAnswer last =
      question == nullptr ? LastAnswer() : QuestionBoard::LastAnswerOf(*question);
  const AnswerPtr& answer = last.answer;
  if (answer == nullptr) return Forget(reading);
  const MetricSpec& metric = tracked.plan.autoscaler().metrics[index];
  const bool times_matter =
      metric.resource == "cpu" &&
      tracked.view.last_start + deps_.config.cpu_initialization_period > now.wall;
  if (last.version == tracked.answers[index] && !tracked.pods_changed && !times_matter &&
      reading.version != 0) {
    if (reading.error.empty()) reading.timestamp = SampleTimeOf(last);
    return;
  }
  tracked.answers[index] = last.version;
  MakeReading(last, metric, *tracked.pods.table, scratch.reading);
  TakeReading(scratch.reading, times_matter, tracked.last_reading + 1, reading);
  tracked.last_reading = std::max(tracked.last_reading, reading.version);
}

void DecideStep::TakeTriggers(TrackedAutoscaler& tracked, absl::Time now) {
  tracked.trigger_readings.clear();
  tracked.trigger_answers.resize(tracked.plan.triggers().size());
  for (size_t i = 0; i < tracked.plan.triggers().size(); ++i) {
    const QuestionBoard::Handle& question = tracked.plan.triggers()[i].question;
    const LastAnswer last =
        question == nullptr ? LastAnswer() : QuestionBoard::LastAnswerOf(*question);
    const AnswerPtr& answer = last.answer;
    if (answer != nullptr) tracked.plan.LearnTriggerMetrics(i, *answer);
    tracked.triggers_changed =
        tracked.triggers_changed || tracked.trigger_answers[i] != last.version;
    tracked.trigger_answers[i] = last.version;
    const Plan::PlannedTrigger& trigger = tracked.plan.triggers()[i];
    for (size_t j = 0; j < trigger.metrics.size(); ++j) {
      if (answer != nullptr && answer->error.empty() && j < answer->trigger_readings.size()) {
        tracked.trigger_readings.push_back(answer->trigger_readings[j]);
        continue;
      }
      TriggerReading unknown{.error = trigger.error, .time = now};
      if (unknown.error.empty()) unknown.error = answer == nullptr ? "" : answer->error;
      if (unknown.error.empty()) unknown.error = "it was not asked yet";
      tracked.trigger_readings.push_back(std::move(unknown));
    }
  }
}

void DecideStep::TakeReadings(TrackedAutoscaler& tracked, const Times& now,
                              DecideScratch& scratch) const {
  TakeTriggers(tracked, now.wall);
  if (tracked.readings_plan != tracked.plan.version()) {
    // What was read for a metric says nothing of the one that has its place now.
    tracked.readings_plan = tracked.plan.version();
    const size_t metrics = tracked.plan.autoscaler().metrics.size();
    tracked.readings.assign(metrics, Reading());
    tracked.answers.assign(metrics, 0);
  }
  tracked.pods_failure = deps_.pods.Failure();
  if (!tracked.reads_metrics) return;
  TakePods(tracked);
  tracked.pods_changed = tracked.readings_pods != tracked.pods.version || tracked.pods.version == 0;
  tracked.readings_pods = tracked.pods.version;
  if (tracked.pods.version == 0) return;  // the math holds before it looks at a reading
  for (size_t i = 0; i < tracked.plan.metric_questions().size(); ++i) {
    TakeMetric(tracked, i, now, scratch);
  }
}

// Counts failures and puts the readings of all triggers behind those of the metrics.
void DecideStep::ReadTriggers(TrackedAutoscaler& tracked, DecideScratch& scratch) {
  const std::optional<Fallback>& fallback = tracked.managed->own.fallback;
  size_t next = 0;
  for (Plan::PlannedTrigger& trigger : tracked.plan.triggers()) {
    for (size_t j = 0; j < trigger.metrics.size(); ++j, ++next) {
      TriggerReading& raw = tracked.trigger_readings[next];
      trigger.failures[j] = raw.error.empty() ? 0 : trigger.failures[j] + 1;
      if (fallback.has_value()) {
        // Where no metric is read the pods are not of now: at zero replicas there are none.
        const bool known = tracked.reads_metrics && tracked.pods.version != 0;
        const PodTable* table = known ? tracked.pods.table : nullptr;
        raw = ApplyFallback({.metric = trigger.metrics[j],
                             .reading = raw,
                             .fallback = *fallback,
                             .failures = trigger.failures[j],
                             .ready_pods = table == nullptr
                                               ? 0
                                               : static_cast<int32_t>(table->running_and_ready())});
      }
      MakeTriggerReading(raw, scratch.reading);
      TakeReading(scratch.reading, false, tracked.last_reading + 1,
                  tracked.readings[trigger.first + j]);
      tracked.last_reading =
          std::max(tracked.last_reading, tracked.readings[trigger.first + j].version);
    }
  }
}

void DecideStep::PrepareState(TrackedAutoscaler& tracked, const Times& now) const {
  const absl::Duration offset = now.WallOffset();
  // What is stored is what to go on from where nothing was decided yet, where another object has
  // taken the name, and where another controller has written the status until now.
  const bool takes_over = tracked.mode == Mode::kAct && tracked.decided_mode != Mode::kAct;
  if (!tracked.decided || tracked.status_is_old || takes_over) {
    tracked.status = tracked.managed->autoscaler.status;
  } else if (tracked.marks.seen != tracked.managed) {
    KeepForeignConditions(*tracked.managed, tracked.status.conditions);
  }
  if (!tracked.decided || tracked.status_is_old) {
    tracked.last_active = TakeOverActivity(tracked.managed->last_active,
                                           WasActive(tracked.managed->autoscaler.status), now.wall);
  }
  // Whose additions were seen meanwhile nobody knows: they allow no removals to us.
  if (takes_over) tracked.decision.state.scale_ups.clear();
  tracked.status_is_old = false;
  if (!tracked.decided) {
    tracked.decision = Decision();
    tracked.unconfirmed.reset();
    tracked.wall_offset = offset;
    tracked.decided = true;
  }
  const absl::Duration jump = offset - tracked.wall_offset;
  if (IsClockJump(jump)) {
    ShiftTimes(jump, tracked.decision.state);
    if (tracked.last_active.has_value()) *tracked.last_active += jump;
    if (tracked.unconfirmed.has_value()) tracked.unconfirmed->time += jump;
  }
  tracked.wall_offset = offset;
  if (tracked.scale.answer.failure != ScaleAnswer::Failure::kNone) return;
  if (!tracked.restored && deps_.ownership.Remembers(tracked.key)) {
    tracked.restored = true;
    std::optional<RememberedState> earlier =
        deps_.ownership.Restore(tracked.key, tracked.scale.answer.spec_replicas, now.wall);
    if (earlier.has_value()) {
      tracked.decision.state = std::move(earlier->state);
      const std::optional<Behavior>& behavior = tracked.managed->autoscaler.behavior;
      if (!earlier->complete && behavior.has_value()) {
        DropReplaceableAdditions(*behavior, now.wall, tracked.decision.state);
      }
    }
  }
  NoteUnconfirmedWrite(tracked, now.wall);
  NoteForeignScale(tracked, now.wall);
}

DecisionInput DecideStep::InputOf(const TrackedAutoscaler& tracked, absl::Time now) const {
  DecisionInput input;
  input.autoscaler = &tracked.plan.autoscaler();
  input.status = &tracked.status;
  input.scale = &tracked.scale.answer;
  input.pods = &tracked.pods;
  if (tracked.reads_metrics) input.readings = tracked.readings;
  input.config = &deps_.config;
  input.state = &tracked.decision.state;
  input.now = now;
  input.spec_version = tracked.plan.version();
  return input;
}

void DecideStep::Decide(TrackedAutoscaler& tracked, const Times& now,
                        DecideScratch& scratch) const {
  const bool changed = InputsChanged(tracked);
  PrepareState(tracked, now);
  const bool triggered = !tracked.plan.triggers().empty() &&
                         tracked.scale.answer.failure == ScaleAnswer::Failure::kNone;
  tracked.activation.reset();
  if (triggered) {
    ReadTriggers(tracked, scratch);
    tracked.activation =
        DecideActivation({.readings = tracked.trigger_readings,
                          .current = tracked.scale.answer.spec_replicas,
                          .min_replicas = tracked.managed->autoscaler.min_or_default(),
                          .cooldown = tracked.managed->own.cooldown,
                          .last_active = tracked.last_active,
                          .created = tracked.managed->created,
                          .now = now.wall});
    tracked.last_active = tracked.activation->last_active;
  }
  absl::Time until;
  tracked.unchanged =
      !changed && !triggered && Settled(tracked.decision, until) && now.wall < until &&
      RenewRecommendation(tracked.decision.recommendation, now.wall, tracked.decision.state);
  tracked.decided_at = now.monotonic;
  tracked.decided_mode = tracked.mode;
  tracked.decided_plan = tracked.plan.version();
  tracked.triggers_changed = false;
  if (tracked.unchanged) return RenewProposals(tracked.readings, now.wall, tracked.decision);

  const DecisionInput input = InputOf(tracked, now.wall);
  ScalerState& state = tracked.decision.state;
  scratch.recommendations.assign(state.recommendations.begin(), state.recommendations.end());
  DeciderOf(*input.autoscaler).Decide(input, {}, scratch.workspace, tracked.decision);
  if (tracked.activation.has_value()) ApplyActivation(input, *tracked.activation, tracked.decision);
  KeepRecommendations(scratch.recommendations, now.wall,
                      std::max(kLongestWindow, deps_.config.downscale_stabilization), state);
}

}  // namespace flyball::scaler
