#include "scaler/steps/stored_status.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "scaler/math/recording.h"
#include "scaler/steps/apply_activation.h"

namespace flyball::scaler {
namespace {

// The words of RecordScaleWrite.
constexpr char kPutToSleep[] = "ScaledToZero";
constexpr char kSleepMessage[] = "the HPA controller scaled the workload to zero";

bool OwnsScaledToZero(const CycleInputs& inputs) {
  return inputs.mode == Mode::kAct && inputs.config().wakes_by_condition;
}

// Whether the stored condition counts, not the one of the last decision.
bool IsForeign(const CycleInputs& inputs, const Condition& stored,
               const std::vector<Condition>& ours) {
  if (stored.type == kAbleToScale || stored.type == kScalingActive ||
      stored.type == kScalingLimited) {
    return false;
  }
  if (stored.type == kActive || stored.type == kFrontReady) {
    return inputs.managed->key.kind != AutoscalerKind::kOwn;
  }
  if (stored.type != kScaledToZero || !OwnsScaledToZero(inputs)) return true;
  if (!inputs.config().scaled_to_zero_condition) return false;
  const Condition* const mine = FindCondition(kScaledToZero, ours);
  return mine == nullptr || stored.last_transition_time.value_or(absl::InfinitePast()) >
                                mine->last_transition_time.value_or(absl::InfinitePast());
}

// Conditions that are not the scaler's stay as they are stored, at the same positions.
void KeepForeignConditions(const CycleInputs& inputs, std::vector<Condition>& conditions) {
  const std::vector<Condition>& all = inputs.managed->autoscaler.status.conditions;
  const auto foreign = [&](const Condition& one) { return IsForeign(inputs, one, conditions); };
  if (std::none_of(all.begin(), all.end(), foreign) &&
      std::none_of(conditions.begin(), conditions.end(), foreign)) {
    return;
  }
  std::vector<Condition> ours = std::move(conditions);
  conditions.clear();
  for (const Condition& stored : all) {
    const Condition* const mine = FindCondition(stored.type, ours);
    if (IsForeign(inputs, stored, ours)) {
      conditions.push_back(stored);
    } else if (mine != nullptr) {
      conditions.push_back(*mine);
    }
  }
  for (Condition& mine : ours) {
    const bool known = FindCondition(mine.type, conditions) != nullptr;
    if (!known && !IsForeign(inputs, mine, {mine})) conditions.push_back(std::move(mine));
  }
}

// Whether the last decision asked for metrics, which it does unless the target is switched off. It
// does not matter whether they failed: they may have failed only after it was put to sleep.
bool AskedMetrics(const AutoscalerStatus& status) {
  const Condition* const active = FindCondition(kScalingActive, status.conditions);
  return active != nullptr && active->reason != "ScalingDisabled";
}

// Whether the target is at zero replicas, and the condition ScaledToZero says whether it may wake.
bool WakesByCondition(const CycleInputs& inputs) {
  return SleepsByCondition(inputs) && inputs.scale.answer.failure == ScaleAnswer::Failure::kNone &&
         inputs.scale.answer.spec_replicas == 0;
}

void SetScaledToZero(absl::Time since, AutoscalerStatus& status) {
  SetCondition({.type = kScaledToZero, .reason = kPutToSleep, .message = {kSleepMessage}}, since,
               status.conditions);
}

// Whether the last decision scaled the target to zero, or followed the metrics at zero, without
// setting the condition ScaledToZero, as versions that do not know the condition do. The desired
// count alone does not show it: it stays the same while the metrics fail, so the decision may have
// found replicas and a 0 from when a person had switched the target off, or from a status that no
// decision had written yet.
bool SleepsUnmarked(const AutoscalerStatus& status) {
  if (status.desired_replicas != 0 || !AskedMetrics(status) ||
      FindCondition(kScaledToZero, status.conditions) != nullptr) {
    return false;
  }
  const Condition* const able = FindCondition(kAbleToScale, status.conditions);
  return status.current_replicas == 0 || (able != nullptr && able->reason == "SucceededRescale");
}

// Whether somebody else seems to have set the condition ScaledToZero to False after our last write
// of the scale that the status shows.
bool ChangedByOthers(const AutoscalerStatus& status) {
  const Condition* const told = FindCondition(kScaledToZero, status.conditions);
  return told != nullptr && told->status != ConditionStatus::kTrue &&
         told->last_transition_time > status.last_scale_time;
}

// Whether we have sent a write that puts the target to sleep and do not know its outcome. A refused
// one most likely had no effect, so a target at zero was then scaled by somebody else.
bool MayHavePutToSleep(const TrackedAutoscaler& tracked) {
  const std::optional<UnconfirmedWrite>& write = tracked.written.unconfirmed;
  const std::shared_ptr<const kube::Scale>& scale = tracked.inputs.scale.scale;
  return write.has_value() && !write->refused && write->from > 0 && write->to == 0 &&
         scale != nullptr && scale->uid == write->uid;
}

}  // namespace

bool SleepsByCondition(const CycleInputs& inputs) {
  const Autoscaler& autoscaler = inputs.plan.autoscaler();
  return OwnsScaledToZero(inputs) && inputs.config().scaled_to_zero_condition &&
         autoscaler.min_or_default() == 0 && SeesLoadAtZero(autoscaler);
}

void TakeStoredStatus(TrackedAutoscaler& tracked) {
  const CycleInputs& inputs = tracked.inputs;
  LastDecision& last = tracked.decided;
  // The stored status is the one to start from if nothing was decided yet, if another object has
  // taken the name, and if another controller has written the status until now.
  const bool takes_over = inputs.mode == Mode::kAct && last.mode != Mode::kAct;
  if (!last.made || last.status_is_old || takes_over) {
    last.status = inputs.managed->autoscaler.status;
  } else if (tracked.written.status.seen != inputs.managed) {
    KeepForeignConditions(inputs, last.status.conditions);
  }
  if (!WakesByCondition(inputs)) {
    if (inputs.scale.answer.failure == ScaleAnswer::Failure::kNone) last.put_to_sleep = false;
    return;
  }
  if (MayHavePutToSleep(tracked)) {
    return SetScaledToZero(tracked.written.unconfirmed->time, last.status);
  }
  if (std::exchange(last.put_to_sleep, false) && !ChangedByOthers(last.status)) {
    return SetScaledToZero(last.decision.now, last.status);
  }
  if (!SleepsUnmarked(last.status)) return;
  last.status.conditions.push_back({.type = std::string(kScaledToZero),
                                    .status = ConditionStatus::kTrue,
                                    .reason = kPutToSleep,
                                    .message = kSleepMessage,
                                    .last_transition_time = last.status.last_scale_time,
                                    .observed_generation = std::nullopt});
}

}  // namespace flyball::scaler
