#include "scaler/inputs/metrics_reader.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "scaler/inputs/resource_list.h"
#include "scaler/spec/decode.h"

namespace flyball::scaler {
namespace {

// Amounts are looked into when all else is as it should be.
struct WrittenUsage {
  std::string name;
  std::optional<Node> usage;
};

}  // namespace

absl::StatusOr<PodMetrics> ReadPodMetrics(const Node& node, absl::string_view path) {
  PodMetrics out;
  std::string window;
  std::vector<WrittenUsage> containers;
  RETURN_IF_ERROR(Decode(
      node, KeyMatch::kExact, out,
      [&](auto& field, PodMetrics& to) {
        field("metadata", to, [](auto& field, PodMetrics& to) { field("name", to.name); });
        field("timestamp", to.timestamp);
        field("window", window);
        field("containers", containers, [](auto& field, WrittenUsage& to) {
          field("name", to.name);
          field("usage", to.usage);
        });
      },
      path));
  const std::string at = absl::StrCat(path, path.empty() ? "" : ".");
  if (!window.empty() && !absl::ParseDuration(window, &out.window)) {
    return absl::InvalidArgumentError(
        absl::StrCat(at, "window: expected a duration like 30s, got \"", window, "\""));
  }
  for (WrittenUsage& written : containers) {
    PodMetrics::ContainerUsage& container = out.containers.emplace_back();
    container.name = std::move(written.name);
    ASSIGN_OR_RETURN(
        container.usage,
        ReadResources(written.usage,
                      absl::StrCat(at, "containers[", out.containers.size() - 1, "].usage")));
  }
  return out;
}

absl::StatusOr<ObjectMetric> ReadObjectMetricValue(const Node& node, absl::string_view path) {
  ObjectMetric out;
  const int64_t absent = absl::ToInt64Seconds(out.window);
  int64_t window_seconds = absent;
  RETURN_IF_ERROR(Decode(
      node, KeyMatch::kExact, out,
      [&](auto& field, ObjectMetric& to) {
        field("describedObject", to,
              [](auto& field, ObjectMetric& to) { field("name", to.object_name); });
        field("timestamp", to.timestamp);
        field.OrElse("windowSeconds", window_seconds, absent);
        field("value", to.value);
      },
      path));
  out.window = absl::Seconds(window_seconds);
  return out;
}

absl::StatusOr<ExternalMetric> ReadExternalMetricValue(const Node& node, absl::string_view path) {
  ExternalMetric out;
  RETURN_IF_ERROR(Decode(
      node, KeyMatch::kExact, out,
      [](auto& field, ExternalMetric& to) {
        field("timestamp", to.timestamp);
        field("value", to.value);
      },
      path));
  return out;
}

}  // namespace flyball::scaler
