#include "scaler/math/requests/revision.h"

#include <algorithm>

#include "scaler/math/requests/bounds.h"

namespace flyball::scaler {
namespace {

constexpr int32_t kUnknownScale = -1;
constexpr absl::Duration kActivationBuffer = absl::Seconds(30);
// Long enough for what was written in this step to be seen in the next.
constexpr absl::Duration kStepIsOver = absl::Seconds(3);
constexpr char kQueued[] = "Queued";
constexpr char kNoTraffic[] = "NoTraffic";
constexpr char kTimedOut[] = "TimedOut";

// A count, and whether it is applied to the target.
struct ScaleOutcome {
  int32_t count = 0;
  bool apply = false;
};

// The state of one step while it is taken.
class Step {
 public:
  Step(const RequestSettings& settings, const RevisionInput& input,
       absl::FunctionRef<bool()> activator_answers, FrontService& front, RevisionStatus& status)
      : settings_(settings),
        input_(input),
        activator_answers_(activator_answers),
        front_(front),
        status_(status) {}

  RevisionActions Take() {
    if (!front_.exists) {
      front_.mode = ServeMode::kProxy;
      front_.activators = kFewestActivators;
      status_.front_ready = false;
      Conclude(kUnknownScale, 0);
      return std::move(actions_);
    }
    const int32_t wanted = Scale();
    front_.mode = wanted > 0 && input_.excess_burst >= 0 ? ServeMode::kServe : ServeMode::kProxy;
    front_.activators = ActivatorCount(settings_, input_.ready_pods);
    named_ = true;
    status_.front_ready = front_.ready;
    Conclude(wanted, input_.ready_pods);
    return std::move(actions_);
  }

 private:
  void LookAgain(absl::Duration after) { actions_.look_again.push_back(after); }

  // For how long `active` has had its value; zero if that is not known.
  absl::Duration Since() const {
    return status_.changed.has_value() ? input_.now - *status_.changed : absl::ZeroDuration();
  }

  bool Activating() const { return status_.active == ConditionState::kUnknown; }
  bool Inactive() const { return status_.active == ConditionState::kFalse; }

  int32_t Scale() {
    if (input_.wanted < 0 && !Activating()) return input_.wanted;
    int32_t min = settings_.min_scale;
    if (settings_.initial_scale > 1 && !status_.initialized && settings_.reachable) {
      min = std::max(min, settings_.initial_scale);
    }
    const int32_t bounded = WithinBounds(min, settings_.max_scale, input_.wanted);
    const ScaleOutcome outcome = bounded == 0 ? ScaleToZero() : ScaleOutcome{bounded, true};
    if (outcome.apply && outcome.count != input_.replicas) actions_.replicas = outcome.count;
    return outcome.count;
  }

  ScaleOutcome ScaleToZero() {
    if (!settings_.enable_scale_to_zero) return {1, true};
    if (Activating()) return GiveUpActivation();
    return Inactive() ? RemoveLastPods() : Deactivate();
  }

  ScaleOutcome GiveUpActivation() {
    const absl::Duration timeout = settings_.progress_deadline + kActivationBuffer;
    if (Since() > timeout) return {0, true};
    LookAgain(timeout);
    return {kUnknownScale, false};
  }

  // The revision becomes inactive first, which puts the activators into the path; one pod stays
  // until then.
  ScaleOutcome Deactivate() {
    const absl::Duration rest = settings_.stable_window - Since();
    if (rest > absl::ZeroDuration()) {
      LookAgain(rest);
      return {1, true};
    }
    // If the mode does not change, nothing else would cause the next step.
    if (front_.mode == ServeMode::kProxy) LookAgain(kStepIsOver);
    return {0, false};
  }

  ScaleOutcome RemoveLastPods() {
    // With an unlimited burst capacity (-1) the activators are always in the path.
    if (settings_.target_burst_capacity != -1) {
      ++actions_.probes;
      if (!activator_answers_()) {
        actions_.probe_on = true;
        return {0, false};
      }
    }
    const absl::Duration grace = settings_.scale_to_zero_grace_period;
    const absl::Duration retention = settings_.pod_retention;
    if (Since() >= std::max(grace, retention)) return {0, true};
    if (retention > absl::ZeroDuration() && Since() < retention) {
      LookAgain(retention - Since());
      return {0, false};
    }
    const absl::Duration proxied = front_.activators_since.has_value()
                                       ? input_.now - *front_.activators_since
                                       : absl::ZeroDuration();
    if (proxied >= grace) return {0, true};
    LookAgain(grace - proxied);
    return {0, false};
  }

  // The number of ready pods that makes it active.
  int32_t FewestReady() const {
    return std::max(settings_.min_scale, status_.initialized ? 1 : settings_.initial_scale);
  }

  void SetActive(ConditionState state, const char* reason) {
    if (status_.changed.has_value() && status_.active == state && status_.reason == reason) return;
    status_.active = state;
    status_.reason = reason;
    status_.changed = absl::FromUnixSeconds(absl::ToUnixSeconds(input_.now));
  }

  void Conclude(int32_t wanted, int32_t ready_pods) {
    status_.ready_pods = ready_pods;
    if (wanted != kUnknownScale || status_.wanted.value_or(kUnknownScale) < 0) {
      status_.wanted = wanted;
    }
    const int32_t fewest = FewestReady();
    if (ready_pods >= fewest && named_) status_.initialized = true;
    if (wanted == 0 || fewest == 0) {
      SetActive(ConditionState::kFalse, Activating() && fewest > 0 ? kTimedOut : kNoTraffic);
    } else if (wanted <= 0 && Inactive()) {
      if (ready_pods < fewest) SetActive(ConditionState::kFalse, kNoTraffic);
    } else if (ready_pods < fewest) {
      SetActive(ConditionState::kUnknown, kQueued);
    } else {
      SetActive(ConditionState::kTrue, "");
    }
  }

  const RequestSettings& settings_;
  const RevisionInput& input_;
  absl::FunctionRef<bool()> activator_answers_;
  FrontService& front_;
  RevisionStatus& status_;
  RevisionActions actions_;
  bool named_ = false;  // the service in front has a name
};

}  // namespace

ConditionState RevisionStatus::ready() const {
  if (active == ConditionState::kFalse) return ConditionState::kFalse;
  return active == ConditionState::kTrue && initialized && front_ready ? ConditionState::kTrue
                                                                       : ConditionState::kUnknown;
}

RevisionActions StepRevision(const RequestSettings& settings, const RevisionInput& input,
                             absl::FunctionRef<bool()> activator_answers, FrontService& front,
                             RevisionStatus& status) {
  return Step(settings, input, activator_answers, front, status).Take();
}

}  // namespace flyball::scaler
