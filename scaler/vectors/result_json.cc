#include <nlohmann/json.hpp>
#include <utility>

#include "absl/time/time.h"
#include "kube/objects/json_members.h"
#include "scaler/spec/v2_json.h"
#include "scaler/vectors/replay.h"

namespace flyball::scaler {
namespace {

using Json = nlohmann::ordered_json;
using kube::TimeText;

// The time with all its fractional digits.
std::string PreciseTime(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E*SZ", time, absl::UTCTimeZone());
}

const char* Text(ActionLabel label) { return kActionLabels[static_cast<size_t>(label)]; }
const char* Text(ErrorLabel label) { return kErrorLabels[static_cast<size_t>(label)]; }

void PutText(const char* key, const std::string& value, Json& out) {
  if (!value.empty()) out[key] = value;
}

Json ConditionJson(const Condition& condition) {
  Json out = {{"type", condition.type}, {"status", ConditionStatusName(condition.status)}};
  out["lastTransitionTime"] = condition.last_transition_time.has_value()
                                  ? Json(TimeText(*condition.last_transition_time))
                                  : Json(nullptr);
  if (condition.observed_generation.has_value()) {
    out["observedGeneration"] = *condition.observed_generation;
  }
  PutText("reason", condition.reason, out);
  PutText("message", condition.message, out);
  return out;
}

Json StatusJson(const AutoscalerStatus& status) {
  Json out = Json::object();
  if (status.observed_generation.has_value()) {
    out["observedGeneration"] = *status.observed_generation;
  }
  if (status.last_scale_time.has_value()) out["lastScaleTime"] = TimeText(*status.last_scale_time);
  if (status.current_replicas != 0) out["currentReplicas"] = status.current_replicas;
  out["desiredReplicas"] = status.desired_replicas;
  out["currentMetrics"] = nullptr;
  for (const MetricStatus& metric : status.current_metrics) {
    out["currentMetrics"].push_back(MetricStatusJson(metric));
  }
  for (const Condition& condition : status.conditions) {
    out["conditions"].push_back(ConditionJson(condition));
  }
  return out;
}

Json EventsJson(const std::vector<Event>& events) {
  Json out = Json::array();
  for (const Event& event : events) {
    out.push_back({{"type", event.warning ? "Warning" : "Normal"},
                   {"reason", event.reason},
                   {"message", event.message}});
  }
  return out;
}

Json MonitorJson(const MonitorLabels& monitor) {
  Json out = {{"action", Text(monitor.action)}, {"error", Text(monitor.error)}};
  out["metrics"] = Json::array();
  for (const MetricLabels& metric : monitor.metrics) {
    out["metrics"].push_back(
        {{"type", metric.type}, {"action", Text(metric.action)}, {"error", Text(metric.error)}});
  }
  return out;
}

Json ProposalsJson(const std::vector<Proposal>& proposals) {
  Json out = Json::array();
  for (const Proposal& proposal : proposals) {
    Json item = Json::object();
    if (proposal.valid) {
      item = {{"replicas", proposal.replicas}, {"name", proposal.name}};
      if (proposal.timestamp.has_value()) item["timestamp"] = PreciseTime(*proposal.timestamp);
    } else {
      item["error"] = proposal.wrapped_error;
    }
    out.push_back(std::move(item));
  }
  return out;
}

Json ScaleEventsJson(const std::vector<ScaleEvent>& events) {
  Json out = Json::array();
  for (const ScaleEvent& event : events) {
    Json item = {{"change", event.change}, {"time", PreciseTime(event.time)}};
    if (event.outdated) item["outdated"] = true;
    out.push_back(std::move(item));
  }
  return out;
}

Json StateJson(const ScalerState& state) {
  Json recommendations = Json::array();
  for (const Recommendation& past : state.recommendations) {
    recommendations.push_back({{"replicas", past.replicas}, {"time", PreciseTime(past.time)}});
  }
  return {{"recommendations", std::move(recommendations)},
          {"scaleUpEvents", ScaleEventsJson(state.scale_ups)},
          {"scaleDownEvents", ScaleEventsJson(state.scale_downs)}};
}

Json TickJson(const TickResult& tick) {
  const Decision& decision = tick.decision;
  Json out = {{"desiredReplicas", tick.stored.desired_replicas}, {"rescaled", decision.rescaled}};
  for (const ScaleWrite& write : tick.scale_writes) {
    out["scaleWrites"].push_back({{"replicas", write.replicas}, {"outcome", write.outcome}});
  }
  out["statusWritten"] = tick.status_written;
  out["status"] = StatusJson(tick.stored);
  out["events"] = EventsJson(decision.events);
  PutText("error", decision.error, out);
  out["monitor"] = MonitorJson(decision.monitor);
  if (decision.metrics_computed) out["proposals"] = ProposalsJson(decision.proposals);
  out["state"] = StateJson(decision.state);
  return out;
}

Json AdmissionJson(const AdmissionResult& admission, bool tells_generation) {
  Json out = {{"errors", Json::array()}};
  if (!admission.decode_error.empty()) {
    out["errors"].push_back(
        {{"type", "decode"}, {"field", ""}, {"detail", admission.decode_error}});
    return out;
  }
  for (const FieldError& error : admission.errors) {
    out["errors"].push_back(
        {{"type", error.type}, {"field", error.field}, {"detail", error.detail}});
  }
  out["spec"] = Json::parse(admission.canonical_spec_json, nullptr, false);
  if (tells_generation && admission.ok() && admission.autoscaler.has_value()) {
    out["generation"] = admission.autoscaler->generation;
  }
  return out;
}

}  // namespace

std::string ResultJson(const ReplayResult& result) {
  Json out = {{"id", result.id},
              {"admission", AdmissionJson(result.admission, result.tells_generation)}};
  out["ticks"] = Json::array();
  for (const TickResult& tick : result.ticks) out["ticks"].push_back(TickJson(tick));
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace flyball::scaler
