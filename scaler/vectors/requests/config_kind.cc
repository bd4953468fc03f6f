#include <nlohmann/json.hpp>

#include "scaler/spec/knative/annotations.h"
#include "scaler/spec/knative/config.h"
#include "scaler/vectors/requests/kinds.h"
#include "scaler/vectors/requests/scenario.h"

namespace flyball::scaler {
namespace {

using Json = nlohmann::ordered_json;

Json ConfigJson(const knative::Config& config) {
  const auto seconds = [](absl::Duration duration) {
    return NumberJson(absl::ToDoubleSeconds(duration));
  };
  return {
      {"activator-capacity", NumberJson(config.activator_capacity)},
      {"allow-zero-initial-scale", config.allow_zero_initial_scale},
      {"container-concurrency-target-default",
       NumberJson(config.container_concurrency_target_default)},
      {"container-concurrency-target-percentage",
       NumberJson(config.container_concurrency_target_fraction)},
      {"enable-scale-to-zero", config.enable_scale_to_zero},
      {"initial-scale", config.initial_scale},
      {"max-scale", config.max_scale},
      {"max-scale-down-rate", NumberJson(config.max_scale_down_rate)},
      {"max-scale-limit", config.max_scale_limit},
      {"max-scale-up-rate", NumberJson(config.max_scale_up_rate)},
      {"min-scale", config.min_scale},
      {"panic-threshold-percentage", NumberJson(config.panic_threshold_percentage)},
      {"panic-window-percentage", NumberJson(config.panic_window_percentage)},
      {"pod-autoscaler-class", config.pod_autoscaler_class},
      {"requests-per-second-target-default", NumberJson(config.requests_per_second_target_default)},
      {"scale-down-delay", seconds(config.scale_down_delay)},
      {"scale-to-zero-grace-period", seconds(config.scale_to_zero_grace_period)},
      {"scale-to-zero-pod-retention-period", seconds(config.scale_to_zero_pod_retention_period)},
      {"stable-window", seconds(config.stable_window)},
      {"target-burst-capacity", NumberJson(config.target_burst_capacity)},
  };
}

}  // namespace

absl::StatusOr<Json> AnswerConfig(const Json& in) {
  ScenarioSettings settings;
  ReplaceSettings(in, settings);
  const absl::StatusOr<knative::Config> config = knative::ReadConfig(settings.config);
  if (!config.ok()) {
    return Json{{"config_ok", false},
                {"annotations_ok", false},
                {"error", std::string(config.status().message())}};
  }
  const absl::Status annotations =
      knative::CheckAnnotations(*config, settings.revision.annotations);
  Json out = {{"config_ok", true}, {"annotations_ok", annotations.ok()}};
  if (!annotations.ok()) out["error"] = std::string(annotations.message());
  out["config"] = ConfigJson(*config);
  if (annotations.ok()) {
    out["spec"] = SpecJson(0, knative::ResolveSettings(*config, settings.revision));
  }
  return out;
}

}  // namespace flyball::scaler
