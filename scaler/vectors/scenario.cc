#include "scaler/vectors/scenario.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "scaler/inputs/fields.h"
#include "scaler/inputs/metrics_reader.h"
#include "scaler/inputs/pod_reader.h"
#include "scaler/spec/shape.h"

namespace flyball::scaler {
namespace {

using Type = Shape::Type;

const Shape kAnysShape{.type = Type::kList, .item = &kAnyShape};
const Shape kStringsShape{.type = Type::kList, .item = &kStringShape};

const Shape kGatesShape{.fields = {{"HPAConfigurableTolerance", &kBoolShape, true},
                                   {"HPAScaleToZero", &kBoolShape, true},
                                   {"PodLevelResources", &kBoolShape, true}}};
const Shape kConfigShape{.fields = {{"tolerance", &kAnyShape, true},
                                    {"downscaleStabilizationSeconds", &kInt64Shape, true},
                                    {"cpuInitializationPeriodSeconds", &kInt64Shape, true},
                                    {"initialReadinessDelaySeconds", &kInt64Shape, true},
                                    {"featureGates", &kGatesShape, true}}};

const Shape kOtherShape{
    .fields = {{"namespace", &kStringShape}, {"name", &kStringShape}, {"selector", &kStringShape}}};
const Shape kOthersShape{.type = Type::kList, .item = &kOtherShape};

const Shape kRecommendationShape{.fields = {{"replicas", &kInt32Shape}, {"time", &kTimeShape}}};
const Shape kRecommendationsShape{.type = Type::kList, .item = &kRecommendationShape};
const Shape kScaleEventShape{
    .fields = {{"change", &kInt32Shape}, {"time", &kTimeShape}, {"outdated", &kBoolShape}}};
const Shape kScaleEventsShape{.type = Type::kList, .item = &kScaleEventShape};
const Shape kStateShape{.fields = {{"recommendations", &kRecommendationsShape},
                                   {"scaleUpEvents", &kScaleEventsShape},
                                   {"scaleDownEvents", &kScaleEventsShape}}};

const Shape kScaleShape{.fields = {{"specReplicas", &kInt32Shape, true},
                                   {"statusReplicas", &kInt32Shape, true},
                                   {"selector", &kStringShape, true}}};
const Shape kAnswerShape{.fields = {{"kind", &kStringShape},
                                    {"object", &kStringShape},
                                    {"metric", &kStringShape},
                                    {"selector", &kStringShape},
                                    {"error", &kStringShape},
                                    {"items", &kAnysShape}}};
const Shape kAnswersShape{.type = Type::kList, .item = &kAnswerShape};
const Shape kMetricsShape{.fields = {{"resource", &kAnswerShape, true},
                                     {"custom", &kAnswersShape},
                                     {"external", &kAnswersShape}}};
const Shape kFaultsShape{.fields = {{"getScale", &kStringShape},
                                    {"updateScale", &kStringsShape},
                                    {"updateStatus", &kStringShape},
                                    {"listPods", &kStringShape}}};
const Shape kTickShape{.fields = {{"now", &kTimeShape},
                                  {"scale", &kScaleShape},
                                  {"spec", &kAnyShape, true},
                                  {"pods", &kAnysShape, true},
                                  {"podsRemove", &kStringsShape},
                                  {"podsUpsert", &kAnysShape},
                                  {"metrics", &kMetricsShape},
                                  {"faults", &kFaultsShape}}};
const Shape kTicksShape{.type = Type::kList, .item = &kTickShape};
const Shape kScenarioShape{.fields = {{"id", &kStringShape},
                                      {"config", &kConfigShape},
                                      {"autoscaler", &kAnyShape},
                                      {"skipAdmission", &kBoolShape},
                                      {"otherAutoscalers", &kOthersShape},
                                      {"state", &kStateShape, true},
                                      {"ticks", &kTicksShape}}};

std::string TextOf(const Node& node, absl::string_view key) {
  return std::string(node.FindText(key));
}

std::optional<int64_t> IntegerOf(const Node& node, absl::string_view key) {
  int64_t value = 0;
  const Node* member = node.Find(key);
  if (member == nullptr || !absl::SimpleAtoi(member->text, &value)) return std::nullopt;
  return value;
}

int32_t Int32Of(const Node& node, absl::string_view key) {
  return static_cast<int32_t>(IntegerOf(node, key).value_or(0));  // conformed: it fits
}

bool BoolOf(const Node& node, absl::string_view key, bool fallback) {
  const Node* member = node.Find(key);
  return member == nullptr ? fallback : member->boolean;
}

absl::Duration SecondsOf(const Node& node, absl::string_view key, absl::Duration fallback) {
  const std::optional<int64_t> seconds = IntegerOf(node, key);
  return seconds.has_value() ? absl::Seconds(*seconds) : fallback;
}

absl::Status ReadConfig(const Node& config, Scenario& out) {
  if (const Node* tolerance = config.Find("tolerance")) {
    if (tolerance->kind != Node::Kind::kNumber ||
        !absl::SimpleAtod(tolerance->text, &out.math.tolerance)) {
      return absl::InvalidArgumentError("config.tolerance: expected a number");
    }
  }
  MathConfig& math = out.math;
  math.downscale_stabilization =
      SecondsOf(config, "downscaleStabilizationSeconds", math.downscale_stabilization);
  math.cpu_initialization_period =
      SecondsOf(config, "cpuInitializationPeriodSeconds", math.cpu_initialization_period);
  math.initial_readiness_delay =
      SecondsOf(config, "initialReadinessDelaySeconds", math.initial_readiness_delay);
  const Node& gates = ObjectOf(config, "featureGates");
  math.configurable_tolerance = BoolOf(gates, "HPAConfigurableTolerance", false);
  out.admit.gates.hpa_configurable_tolerance = math.configurable_tolerance;
  out.admit.gates.hpa_scale_to_zero = BoolOf(gates, "HPAScaleToZero", false);
  out.pod_level_resources = BoolOf(gates, "PodLevelResources", true);
  return absl::OkStatus();
}

std::vector<ScaleEvent> ReadScaleEvents(const Node& state, absl::string_view key) {
  std::vector<ScaleEvent> out;
  for (const Node& event : ItemsOf(state, key)) {
    out.push_back({.change = Int32Of(event, "change"),
                   .time = TimeOf(event, "time").value_or(absl::UnixEpoch()),
                   .outdated = BoolOf(event, "outdated", false)});
  }
  return out;
}

ScalerState ReadState(const Node& state) {
  ScalerState out;
  for (const Node& past : ItemsOf(state, "recommendations")) {
    out.recommendations.push_back({.replicas = Int32Of(past, "replicas"),
                                   .time = TimeOf(past, "time").value_or(absl::UnixEpoch())});
  }
  out.scale_ups = ReadScaleEvents(state, "scaleUpEvents");
  out.scale_downs = ReadScaleEvents(state, "scaleDownEvents");
  return out;
}

// Every item of a list through one of the readers.
template <typename Item>
absl::StatusOr<std::vector<Item>> ReadAll(const Node& node, absl::string_view key,
                                          absl::StatusOr<Item> (*read)(const Node&,
                                                                       absl::string_view)) {
  std::vector<Item> out;
  const std::vector<Node>& items = ItemsOf(node, key);
  for (size_t i = 0; i < items.size(); ++i) {
    ASSIGN_OR_RETURN(Item item, read(items[i], absl::StrCat(key, "[", i, "]")));
    out.push_back(std::move(item));
  }
  return out;
}

template <typename Item>
absl::Status ReadAnswer(const Node& node,
                        absl::StatusOr<Item> (*read)(const Node&, absl::string_view),
                        MetricsAnswer<Item>& out) {
  out.error = TextOf(node, "error");
  ASSIGN_OR_RETURN(out.items, ReadAll(node, "items", read));
  return absl::OkStatus();
}

absl::Status ReadMetrics(const Node& metrics, Tick& tick) {
  if (const Node* resource = metrics.Find("resource")) {
    tick.resource.emplace();
    RETURN_IF_ERROR(ReadAnswer(*resource, ReadPodMetrics, *tick.resource));
  }
  for (const Node& node : ItemsOf(metrics, "custom")) {
    CustomAnswer& custom = tick.custom.emplace_back();
    custom.kind = TextOf(node, "kind");
    custom.object = TextOf(node, "object");
    custom.metric = TextOf(node, "metric");
    custom.selector = TextOf(node, "selector");
    RETURN_IF_ERROR(ReadAnswer(node, ReadObjectMetricValue, custom.answer));
  }
  for (const Node& node : ItemsOf(metrics, "external")) {
    ExternalAnswer& external = tick.external.emplace_back();
    external.metric = TextOf(node, "metric");
    external.selector = TextOf(node, "selector");
    RETURN_IF_ERROR(ReadAnswer(node, ReadExternalMetricValue, external.answer));
  }
  return absl::OkStatus();
}

ScaleChange ReadScale(const Node& scale) {
  ScaleChange out;
  if (scale.Find("specReplicas") != nullptr) out.spec_replicas = Int32Of(scale, "specReplicas");
  if (scale.Find("statusReplicas") != nullptr) {
    out.status_replicas = Int32Of(scale, "statusReplicas");
  }
  if (scale.Find("selector") != nullptr) out.selector = TextOf(scale, "selector");
  return out;
}

Faults ReadFaults(const Node& faults) {
  Faults out;
  out.get_scale = TextOf(faults, "getScale");
  for (const Node& word : ItemsOf(faults, "updateScale")) out.update_scale.push_back(word.text);
  out.update_status = TextOf(faults, "updateStatus");
  out.list_pods = TextOf(faults, "listPods");
  return out;
}

absl::StatusOr<Tick> ReadTick(const Node& node, absl::string_view path) {
  Tick tick;
  const std::optional<absl::Time> now = TimeOf(node, "now");
  if (!now.has_value()) return absl::InvalidArgumentError(absl::StrCat(path, ".now is missing"));
  tick.now = *now;
  tick.scale = ReadScale(ObjectOf(node, "scale"));
  if (const Node* spec = node.Find("spec")) tick.spec = *spec;
  if (node.Find("pods") != nullptr) {
    ASSIGN_OR_RETURN(tick.pods, ReadAll(node, "pods", ReadPod));
  }
  for (const Node& name : ItemsOf(node, "podsRemove")) tick.pods_remove.push_back(name.text);
  ASSIGN_OR_RETURN(tick.pods_upsert, ReadAll(node, "podsUpsert", ReadPod));
  RETURN_IF_ERROR(ReadMetrics(ObjectOf(node, "metrics"), tick));
  tick.faults = ReadFaults(ObjectOf(node, "faults"));
  return tick;
}

}  // namespace

absl::StatusOr<Scenario> ReadScenario(const Node& node) {
  ASSIGN_OR_RETURN(const Node shaped, Conform(node, kScenarioShape, KeyMatch::kExact));
  Scenario out;
  out.id = TextOf(shaped, "id");
  RETURN_IF_ERROR(ReadConfig(ObjectOf(shaped, "config"), out));
  out.admit.skip_admission = BoolOf(shaped, "skipAdmission", false);
  out.autoscaler = ObjectOf(shaped, "autoscaler");
  for (const Node& other : ItemsOf(shaped, "otherAutoscalers")) {
    out.others.push_back({.ns = TextOf(other, "namespace"),
                          .name = TextOf(other, "name"),
                          .selector = TextOf(other, "selector")});
  }
  out.state = ReadState(ObjectOf(shaped, "state"));
  ASSIGN_OR_RETURN(out.ticks, ReadAll(shaped, "ticks", ReadTick));
  return out;
}

}  // namespace flyball::scaler
