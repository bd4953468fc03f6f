#include "adapter/live/kubelet/kubelet_provider.h"

#include <algorithm>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "adapter/object_candidates.h"
#include "base/status_macros.h"

namespace flyball::kubelet {
namespace {

using adapter::NodeMetrics;
using adapter::PodMetrics;
using adapter::ResourceMetricList;

constexpr uint64_t kNanoInMilli = 1'000'000;

adapter::Usage Shown(const Usage& usage) {
  // No machine has that much, but a page may contain any number.
  const uint64_t most = uint64_t{std::numeric_limits<int64_t>::max()} / 1000;
  return {.cpu_milli = static_cast<int64_t>(usage.cpu_nanocores / kNanoInMilli +
                                            (usage.cpu_nanocores % kNanoInMilli != 0 ? 1 : 0)),
          .memory_milli = static_cast<int64_t>(std::min(usage.memory_bytes, most)) * 1000};
}

}  // namespace

std::string KubeletProvider::Degraded() const {
  const absl::Status known = pages_.Known();
  return known.ok() ? "" : absl::StrCat("kubelets: ", known.message());
}

absl::StatusOr<ResourceMetricList<PodMetrics>> KubeletProvider::Pods(
    absl::string_view ns, absl::string_view name, const adapter::ObjectFilter& filter,
    absl::Duration timeout) {
  ResourceMetricList<PodMetrics> list;
  list.freshness.epoch = Epoch();
  ASSIGN_OR_RETURN(const std::vector<kube::ObjectPtr> pods,
                   adapter::ObjectCandidates(directory_,
                                             {.resource = {.group = "", .resource = "pods"},
                                              .ns = std::string(ns),
                                              .running_only = true,
                                              .timeout = timeout},
                                             name, filter));
  list.degraded = Degraded();
  for (const kube::ObjectPtr& pod : pods) {
    const std::optional<PodUsage> usage = pages_.Pod({pod->ns, pod->name});
    if (!usage) continue;
    PodMetrics& metrics = list.items.emplace_back();
    metrics.pod = pod;
    metrics.timestamp = absl::FromUnixMillis(usage->stamp_ms);
    metrics.window = absl::Milliseconds(usage->window_ms);
    for (const auto& [container, of_container] : usage->containers) {
      metrics.containers.push_back({.name = container, .usage = Shown(of_container)});
    }
  }
  return list;
}

absl::StatusOr<ResourceMetricList<NodeMetrics>> KubeletProvider::Nodes(
    absl::string_view name, const adapter::ObjectFilter& filter, absl::Duration timeout) {
  ResourceMetricList<NodeMetrics> list;
  list.freshness.epoch = Epoch();
  ASSIGN_OR_RETURN(const std::vector<kube::ObjectPtr> nodes,
                   adapter::ObjectCandidates(directory_,
                                             {.resource = {.group = "", .resource = "nodes"},
                                              .ns = "",
                                              .running_only = false,
                                              .timeout = timeout},
                                             name, filter));
  list.degraded = Degraded();
  for (const kube::ObjectPtr& node : nodes) {
    const std::optional<TimedUsage> usage = pages_.Node(node->name);
    if (!usage) continue;
    list.items.push_back({.node = node,
                          .timestamp = absl::FromUnixMillis(usage->stamp_ms),
                          .window = absl::Milliseconds(usage->window_ms),
                          .usage = Shown(usage->usage)});
  }
  return list;
}

}  // namespace flyball::kubelet
