#include "scaler/math/readings.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "scaler/math/read_items.h"

namespace flyball::scaler {

void ReadResource(const MetricsAnswer<PodMetrics>& answer, absl::string_view resource,
                  absl::string_view container, const PodTable& table, Reading& reading) {
  const std::vector<PodMetrics>& pods = answer.items;
  const auto usage_of = [&](const PodMetrics::ContainerUsage& one) -> std::optional<int64_t> {
    const kube::Quantity* usage = FindAmount(one.usage, resource);
    return usage == nullptr ? std::nullopt : std::make_optional(usage->MilliValue());
  };
  ReadPodItems(
      "resource", {.count = pods.size()}, answer.error, table,
      [&](size_t place) -> absl::string_view { return pods[place].name; },
      [&](size_t place) { return pods[place].timestamp; },
      [&](size_t place, PodSample& sample, std::string&) {
        const auto usage = SumOfContainers(pods[place].containers, container, usage_of);
        sample.value_milli = usage.value_or(0);
        sample.window = pods[place].window;
        return usage.has_value();
      },
      reading);
}

void ReadPodsMetric(const MetricsAnswer<ObjectMetric>& answer, const PodTable& table,
                    Reading& reading) {
  const std::vector<ObjectMetric>& values = answer.items;
  ReadPodItems(
      "custom", {.count = values.size()}, answer.error, table,
      [&](size_t place) -> absl::string_view { return values[place].object_name; },
      [&](size_t place) { return values[place].timestamp; },
      [&](size_t place, PodSample& sample, std::string&) {
        sample.value_milli = values[place].value.MilliValue();
        sample.window = values[place].window;
        return true;
      },
      reading);
}

void ReadObjectMetric(const MetricsAnswer<ObjectMetric>& answer, Reading& reading) {
  const std::vector<ObjectMetric>& values = answer.items;
  std::string error = answer.error;
  if (error.empty() && values.size() != 1) {
    error = absl::StrCat("the custom metrics API server returned ", values.size(),
                         " results when we asked for exactly one");
  }
  ReadAmounts(
      "custom", values.size(), std::move(error),
      [&](size_t place) { return values[place].timestamp; },
      [&](size_t place, std::string&) { return values[place].value.MilliValue(); }, reading);
}

void ReadExternalMetric(const MetricsAnswer<ExternalMetric>& answer, Reading& reading) {
  const std::vector<ExternalMetric>& series = answer.items;
  ReadAmounts(
      "external", series.size(), answer.error,
      [&](size_t place) { return series[place].timestamp; },
      [&](size_t place, std::string&) { return series[place].value.MilliValue(); }, reading);
}

}  // namespace flyball::scaler
