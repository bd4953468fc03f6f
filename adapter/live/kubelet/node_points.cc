// A page of /metrics/resource -> points.
#include <utility>

#include "adapter/live/formats/series_labels.h"
#include "adapter/live/formats/text.h"
#include "adapter/live/kubelet/kubelet_usage.h"
#include "base/status_macros.h"

namespace flyball::kubelet {
namespace {

// NaN, negative values and values that do not fit a uint64 become 0, which counts as absent.
uint64_t WholeOf(double value) {
  return value > 0 && value < 18446744073709549568.0 ? static_cast<uint64_t>(value) : 0;
}

class Sink : public formats::ScrapeSink {
 public:
  void OnSample(const formats::ScrapedSample& sample) override {
    const absl::string_view name = sample.series.substr(0, sample.series.find('{'));
    if (name == "node_cpu_usage_seconds_total") return TakeCpu(sample, Node());
    if (name == "node_memory_working_set_bytes") return TakeMemory(sample, Node());
    if (name == "container_cpu_usage_seconds_total") {
      if (UsagePoint* container = Container(sample)) TakeCpu(sample, *container);
    } else if (name == "container_memory_working_set_bytes") {
      if (UsagePoint* container = Container(sample)) TakeMemory(sample, *container);
    } else if (name == "container_start_time_seconds") {
      if (UsagePoint* container = Container(sample)) {
        container->start_ms = static_cast<int64_t>(WholeOf(sample.value * 1000) & INT64_MAX);
      }
    }
  }
  void OnMetadata(const formats::FamilyMetadata&) override {}

  NodePoints Take() {
    const auto is_empty = [](const UsagePoint& p) { return p.cpu_ns == 0 || p.memory_bytes == 0; };
    if (points_.node && is_empty(*points_.node)) points_.node.reset();
    std::erase_if(points_.pods, [&](const auto& pod) {
      for (const auto& [name, point] : pod.second) {
        if (is_empty(point)) return true;
      }
      return false;
    });
    return std::move(points_);
  }

 private:
  UsagePoint& Node() {
    if (!points_.node) points_.node.emplace();
    return *points_.node;
  }
  // nullptr: its labels do not say which.
  UsagePoint* Container(const formats::ScrapedSample& sample) {
    if (!labels_.Read(sample.series, sample.type, false).ok()) return nullptr;
    PodId pod;
    std::string container;
    for (const formats::LabelView& label : labels_.labels()) {
      if (label.name == "namespace") pod.ns = std::string(label.value);
      if (label.name == "pod") pod.name = std::string(label.value);
      if (label.name == "container") container = std::string(label.value);
    }
    if (pod.ns.empty() || pod.name.empty() || container.empty()) return nullptr;
    return &points_.pods[std::move(pod)][std::move(container)];
  }
  // The stamp of the later line counts.
  static void TakeCpu(const formats::ScrapedSample& sample, UsagePoint& point) {
    point.cpu_ns = WholeOf(sample.value * 1e9);
    point.stamp_ms = sample.time_ms.value_or(point.stamp_ms);
  }
  static void TakeMemory(const formats::ScrapedSample& sample, UsagePoint& point) {
    point.memory_bytes = WholeOf(sample.value);
    point.stamp_ms = sample.time_ms.value_or(point.stamp_ms);
  }

  formats::SeriesLabels labels_;
  NodePoints points_;
};

}  // namespace

absl::StatusOr<NodePoints> ReadNodePoints(absl::string_view page) {
  Sink sink;
  RETURN_IF_ERROR(formats::ParseText(page, sink));
  return sink.Take();
}

}  // namespace flyball::kubelet
