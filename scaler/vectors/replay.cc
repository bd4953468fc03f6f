#include "scaler/vectors/replay.h"

#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "scaler/math/hpa/decider_of.h"
#include "scaler/vectors/world.h"

namespace flyball::scaler {
namespace {

// The number of writes that the controller tries if each one meets a conflict.
constexpr size_t kMaxScaleWrites = 5;

// The name of a fault word's kind: `error:TEXT` is "error".
std::string OutcomeOf(absl::string_view word) {
  if (word.empty()) return "ok";
  return absl::StartsWith(word, "error:") ? "error" : std::string(word);
}

// The API stores whole seconds.
void StoreTime(std::optional<absl::Time>& time) {
  if (time.has_value()) time = absl::FromUnixSeconds(absl::ToUnixSeconds(*time));
}

// The API stores the text: a binary quantity that is written as 404000000 is read as the decimal
// 404M.
void StoreQuantity(std::optional<kube::Quantity>& quantity) {
  if (!quantity.has_value()) return;
  const auto read = kube::Quantity::Parse(quantity->ToString());
  if (read.ok()) quantity = *read;
}

// The status as it is read after `status` was written.
AutoscalerStatus Stored(AutoscalerStatus status) {
  StoreTime(status.last_scale_time);
  for (MetricStatus& metric : status.current_metrics) {
    StoreQuantity(metric.value);
    StoreQuantity(metric.average_value);
  }
  for (Condition& condition : status.conditions) StoreTime(condition.last_transition_time);
  return status;
}

// The autoscaler with its spec replaced. It was admitted before, so that only defaults are applied.
std::optional<Autoscaler> WithSpec(const Scenario& scenario, const Node& spec) {
  Node document;
  document.kind = Node::Kind::kMap;
  Node text;
  text.kind = Node::Kind::kString;
  text.text = "autoscaling/v2";
  document.members.push_back({"apiVersion", text});
  text.text = "HorizontalPodAutoscaler";
  document.members.push_back({"kind", text});
  if (const Node* metadata = scenario.autoscaler.Find("metadata")) {
    document.members.push_back({"metadata", *metadata});
  }
  document.members.push_back({"spec", spec});
  AdmitOptions options = scenario.admit;
  options.skip_admission = true;
  return Admit(document, options).autoscaler;
}

// One scenario under way.
class Replayer {
 public:
  Replayer(const Scenario& scenario, Autoscaler autoscaler)
      : scenario_(scenario),
        autoscaler_(std::move(autoscaler)),
        generation_(autoscaler_.generation),
        world_(scenario, autoscaler_),
        state_(scenario.state),
        stored_(autoscaler_.status) {}

  TickResult Run(const Tick& tick) {
    if (tick.spec.has_value()) ReplaceSpec(*tick.spec);
    generation_ = tick.generation.value_or(generation_);
    autoscaler_.generation = generation_;
    world_.Apply(tick);
    const ScaleAnswer scale = world_.ReadScale(tick);
    PodsAnswer pods;
    std::vector<Reading> readings;
    DecisionInput input;
    input.autoscaler = &autoscaler_;
    input.status = &stored_;
    input.scale = &scale;
    input.config = &scenario_.math;
    input.state = &state_;
    input.now = tick.now;
    input.deleted = tick.faults.deleted;
    if (DeciderOf(autoscaler_).ReadsMetrics(input)) {
      pods = world_.ReadPods(tick, scenario_.math);
      readings = world_.ReadMetrics(tick);
      input.pods = &pods;
      input.readings = readings;
    }
    TickResult result;
    DeciderOf(autoscaler_).Decide(input, {}, workspace_, result.decision);
    if (result.decision.rescale) WriteScale(tick, input, result);
    WriteStatus(tick, input, result);
    state_ = result.decision.state;
    result.stored = stored_;
    return result;
  }

 private:
  void ReplaceSpec(const Node& spec) {
    std::optional<Autoscaler> changed = WithSpec(scenario_, spec);
    if (changed.has_value()) autoscaler_ = *std::move(changed);
  }

  // After a conflict the same count is written again.
  void WriteScale(const Tick& tick, const DecisionInput& input, TickResult& result) {
    const int32_t replicas = result.decision.desired;
    std::string error;
    for (size_t i = 0; i < kMaxScaleWrites; ++i) {
      const auto& faults = tick.faults.update_scale;
      const std::string word = i < faults.size() ? faults[i] : "";
      error = world_.WriteScale(word, replicas);
      result.scale_writes.push_back({.replicas = replicas, .outcome = OutcomeOf(word)});
      if (word != "conflict") break;
    }
    RecordScaleWrite(input, error, result.decision);
  }

  void WriteStatus(const Tick& tick, const DecisionInput& input, TickResult& result) {
    std::string error;
    if (result.decision.status_changed) {
      error = world_.StatusFault(tick.faults.update_status);
      result.status_written = error.empty();
    }
    RecordStatusWrite(input, error, result.decision);
    if (result.status_written) stored_ = Stored(result.decision.status);
  }

  const Scenario& scenario_;
  Autoscaler autoscaler_;
  int64_t generation_;  // a tick that changes the spec also says the new generation
  World world_;
  ScalerState state_;
  AutoscalerStatus stored_;
  Workspace workspace_;
};

}  // namespace

ReplayResult Replay(const Scenario& scenario) {
  ReplayResult out;
  out.id = scenario.id;
  out.tells_generation = scenario.admit.dialect.minor >= 37;
  out.admission = Admit(scenario.autoscaler, scenario.admit);
  if (!out.admission.ok() || !out.admission.autoscaler.has_value()) return out;
  Replayer replayer(scenario, *out.admission.autoscaler);
  for (const Tick& tick : scenario.ticks) out.ticks.push_back(replayer.Run(tick));
  return out;
}

}  // namespace flyball::scaler
