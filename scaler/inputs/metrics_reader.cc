#include "scaler/inputs/metrics_reader.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "scaler/inputs/fields.h"
#include "scaler/spec/shape.h"

namespace flyball::scaler {
namespace {

const Shape kNameShape{.fields = {{"name", &kStringShape}}};
const Shape kUsageShape{.fields = {{"name", &kStringShape}, {"usage", &kAnyShape, true}}};
const Shape kUsagesShape{.type = Shape::Type::kList, .item = &kUsageShape};
const Shape kPodMetricsShape{.fields = {{"metadata", &kNameShape},
                                        {"timestamp", &kTimeShape},
                                        {"window", &kStringShape},
                                        {"containers", &kUsagesShape}}};
const Shape kMetricValueShape{.fields = {{"describedObject", &kNameShape},
                                         {"timestamp", &kTimeShape},
                                         {"windowSeconds", &kInt64Shape, true},
                                         {"value", &kQuantityShape}}};
const Shape kExternalValueShape{.fields = {{"timestamp", &kTimeShape}, {"value", &kQuantityShape}}};

kube::Quantity ValueOf(const Node& node) {
  const auto quantity = kube::Quantity::Parse(node.FindText("value"));
  return quantity.ok() ? *quantity : kube::Quantity();  // absent is 0, as for the API's clients
}

}  // namespace

absl::StatusOr<PodMetrics> ReadPodMetrics(const Node& node, absl::string_view path) {
  ASSIGN_OR_RETURN(const Node shaped, Conform(node, kPodMetricsShape, KeyMatch::kExact, path));
  PodMetrics out;
  out.name = std::string(ObjectOf(shaped, "metadata").FindText("name"));
  out.timestamp = TimeOf(shaped, "timestamp");
  const absl::string_view window = shaped.FindText("window");
  if (!window.empty() && !absl::ParseDuration(window, &out.window)) {
    return absl::InvalidArgumentError(absl::StrCat(path, path.empty() ? "" : ".",
                                                   "window: expected a duration like 30s, got \"",
                                                   window, "\""));
  }
  const std::vector<Node>& containers = ItemsOf(shaped, "containers");
  for (size_t i = 0; i < containers.size(); ++i) {
    const std::string at = absl::StrCat(path, path.empty() ? "" : ".", "containers[", i, "]");
    PodMetrics::ContainerUsage container;
    container.name = std::string(containers[i].FindText("name"));
    ASSIGN_OR_RETURN(container.usage, ResourcesOf(containers[i], "usage", at));
    out.containers.push_back(std::move(container));
  }
  return out;
}

absl::StatusOr<ObjectMetric> ReadObjectMetricValue(const Node& node, absl::string_view path) {
  ASSIGN_OR_RETURN(const Node shaped, Conform(node, kMetricValueShape, KeyMatch::kExact, path));
  ObjectMetric out;
  out.object_name = std::string(ObjectOf(shaped, "describedObject").FindText("name"));
  out.timestamp = TimeOf(shaped, "timestamp");
  int64_t window_seconds = 0;
  if (const Node* window = shaped.Find("windowSeconds");
      window != nullptr && absl::SimpleAtoi(window->text, &window_seconds)) {
    out.window = absl::Seconds(window_seconds);
  }
  out.value = ValueOf(shaped);
  return out;
}

absl::StatusOr<ExternalMetric> ReadExternalMetricValue(const Node& node, absl::string_view path) {
  ASSIGN_OR_RETURN(const Node shaped, Conform(node, kExternalValueShape, KeyMatch::kExact, path));
  return ExternalMetric{.timestamp = TimeOf(shaped, "timestamp"), .value = ValueOf(shaped)};
}

}  // namespace flyball::scaler
