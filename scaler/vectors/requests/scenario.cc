#include "scaler/vectors/requests/scenario.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/go/arithmetic.h"
#include "base/go/duration.h"
#include "base/status_macros.h"
#include "kube/objects/json_members.h"

namespace flyball::scaler {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kLatestMs = int64_t{1} << 30;

knative::TextMap TextMapOf(const Json& object) {
  knative::TextMap map;
  if (!object.is_object()) return map;
  for (const auto& [key, value] : object.items()) {
    if (value.is_string()) map[key] = value.get<std::string>();
  }
  return map;
}

knative::Reachability ReachabilityOf(const std::string& text) {
  if (text == "Unreachable") return knative::Reachability::kUnreachable;
  return text == "Reachable" ? knative::Reachability::kReachable : knative::Reachability::kUnknown;
}

const Json& At(const Json& array, size_t index) {
  static const Json& none = *new Json();
  return array.is_array() && index < array.size() ? array[index] : none;
}

}  // namespace

ScenarioClock::ScenarioClock(const Json& in)
    : start_(absl::FromUnixMillis(kube::NumberOf(in, "t0"))) {}

void ReplaceSettings(const Json& from, ScenarioSettings& settings) {
  if (from.contains("config")) settings.config = TextMapOf(from["config"]);
  if (from.contains("annotations")) settings.revision.annotations = TextMapOf(from["annotations"]);
  if (from.contains("cc")) settings.revision.container_concurrency = kube::NumberOf(from, "cc");
  if (from.contains("reach")) {
    settings.revision.reachability = ReachabilityOf(kube::TextOf(from, "reach"));
  }
  const auto deadline = go::ParseDuration(kube::TextOf(from, "progress_deadline"));
  if (deadline.ok()) settings.progress_deadline = *deadline;
}

absl::StatusOr<RequestSettings> Resolve(const ScenarioSettings& settings) {
  ASSIGN_OR_RETURN(knative::Config config, knative::ReadConfig(settings.config));
  config.progress_deadline = settings.progress_deadline;
  RequestSettings resolved = knative::ResolveSettings(config, settings.revision);
  if (resolved.stable_window > knative::kLongestWindow ||
      resolved.panic_window > knative::kLongestWindow) {
    return absl::InvalidArgumentError("a window is longer than an hour");
  }
  return resolved;
}

Json SpecJson(int64_t ms, const RequestSettings& settings) {
  const auto seconds = [](absl::Duration duration) {
    return NumberJson(absl::ToDoubleSeconds(duration));
  };
  return {{"t", ms},
          {"metric", settings.metric},
          {"target", NumberJson(settings.target)},
          {"total", NumberJson(settings.total)},
          {"panic_threshold", NumberJson(settings.panic_threshold)},
          {"stable_s", seconds(settings.stable_window)},
          {"panic_s", seconds(settings.panic_window)},
          {"tbc", NumberJson(settings.target_burst_capacity)},
          {"scrape", settings.scrapes_pods()},
          {"max_up", NumberJson(settings.max_scale_up_rate)},
          {"max_down", NumberJson(settings.max_scale_down_rate)},
          {"delay_s", seconds(settings.scale_down_delay)},
          {"initial", settings.initial_scale},
          {"activation", settings.activation_scale},
          {"reachable", settings.reachable},
          {"min", settings.min_scale},
          {"max", settings.max_scale},
          {"weighted", settings.weighted}};
}

double NumberAt(const Json& array, size_t index) {
  const Json& value = At(array, index);
  return value.is_number() ? value.get<double>() : 0;
}

int64_t IntAt(const Json& array, size_t index) { return GoInt64(NumberAt(array, index)); }

std::string TextAt(const Json& array, size_t index) {
  const Json& value = At(array, index);
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::vector<std::string> TextsAt(const Json& array, size_t index) {
  std::vector<std::string> texts;
  const Json& values = At(array, index);
  if (!values.is_array()) return texts;
  for (const Json& value : values) {
    if (value.is_string()) texts.push_back(value.get<std::string>());
  }
  return texts;
}

Json NumberJson(double value) {
  // From 2^53 on JSON parsers that use doubles would round the number.
  constexpr double kExact = 9007199254740992;
  if (value == std::trunc(value) && std::fabs(value) < kExact) return static_cast<int64_t>(value);
  return value;
}

absl::Status CheckTime(int64_t ms) {
  if (ms >= 0 && ms <= kLatestMs) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("time ", ms, " ms is out of range"));
}

}  // namespace flyball::scaler
