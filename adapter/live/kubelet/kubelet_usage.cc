#include "adapter/live/kubelet/kubelet_usage.h"

namespace flyball::kubelet {
namespace {

// For a container that is younger than this, its start does not serve as the earlier point.
constexpr int64_t kYoungestMs = 10'000;

}  // namespace

KubeletUsage::PointPair KubeletUsage::Advance(const UsagePoint& now, const PointPair* before,
                                              bool container) const {
  PointPair points = {now, std::nullopt};
  const int64_t age_ms = now.stamp_ms - now.start_ms;
  if (container && age_ms >= kYoungestMs && age_ms < resolution_ms_) {
    points.previous = {.stamp_ms = now.start_ms,
                       .cpu_ns = 0,
                       .memory_bytes = now.memory_bytes,
                       .start_ms = now.start_ms};
    return points;
  }
  if (before == nullptr) return points;
  // The container was restarted since.
  if (container && now.start_ms >= before->last.stamp_ms) return points;
  if (now.stamp_ms > before->last.stamp_ms) {
    points.previous = before->last;
  } else if (before->previous && before->previous->stamp_ms < now.stamp_ms) {
    points.previous = before->previous;
  }
  return points;
}

void KubeletUsage::Replace(const std::string& node, NodePoints points) {
  NodeUsage& known = nodes_[node];
  NodeUsage next;
  if (points.node) next.node = Advance(*points.node, known.node ? &*known.node : nullptr, false);
  for (const auto& [pod, containers] : points.pods) {
    const auto known_pod = known.pods.find(pod);
    for (const auto& [name, point] : containers) {
      const PointPair* before = nullptr;
      if (known_pod != known.pods.end()) {
        const auto found = known_pod->second.find(name);
        if (found != known_pod->second.end()) before = &found->second;
      }
      next.pods[pod].emplace(name, Advance(point, before, true));
    }
    node_of_[pod] = node;
  }
  for (const auto& [pod, containers] : known.pods) {
    const auto of_pod = node_of_.find(pod);
    if (next.pods.contains(pod) || of_pod == node_of_.end() || of_pod->second != node) continue;
    node_of_.erase(of_pod);
  }
  known = std::move(next);
}

// nullopt: time, CPU or the start have gone back, or there is one point only.
std::optional<TimedUsage> KubeletUsage::UsageOf(const PointPair& points) {
  if (!points.previous) return std::nullopt;
  const UsagePoint &last = points.last, &previous = *points.previous;
  if (last.start_ms < previous.start_ms || last.cpu_ns < previous.cpu_ns ||
      last.stamp_ms <= previous.stamp_ms) {
    return std::nullopt;
  }
  TimedUsage usage;
  usage.stamp_ms = last.stamp_ms;
  usage.window_ms = last.stamp_ms - previous.stamp_ms;
  const double seconds = static_cast<double>(usage.window_ms) / 1000;
  usage.usage.cpu_nanocores =
      static_cast<uint64_t>(static_cast<double>(last.cpu_ns - previous.cpu_ns) / seconds);
  usage.usage.memory_bytes = last.memory_bytes;
  return usage;
}

std::optional<TimedUsage> KubeletUsage::Node(const std::string& node) const {
  const auto found = nodes_.find(node);
  if (found == nodes_.end() || !found->second.node) return std::nullopt;
  return UsageOf(*found->second.node);
}

std::optional<PodUsage> KubeletUsage::Pod(const PodId& pod) const {
  const auto node = node_of_.find(pod);
  if (node == node_of_.end()) return std::nullopt;
  PodUsage usage;
  for (const auto& [name, points] : nodes_.at(node->second).pods.at(pod)) {
    // If one container is not known, the pod is not known.
    if (!points.previous) return std::nullopt;
    const auto of_container = UsageOf(points);
    if (!of_container) continue;
    if (usage.containers.empty() || of_container->stamp_ms < usage.stamp_ms) {
      usage.stamp_ms = of_container->stamp_ms;
      usage.window_ms = of_container->window_ms;
    }
    usage.containers.emplace_back(name, of_container->usage);
  }
  if (usage.containers.empty()) return std::nullopt;
  return usage;
}

}  // namespace flyball::kubelet
