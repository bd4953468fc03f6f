// Computes CPU and memory of containers, pods and nodes from the kubelets' /metrics/resource, as
// metrics-server does for metrics.k8s.io.
//
// Pure; not thread-safe. Source: metrics-server main (August 2026), pkg/scraper/client/resource and
// pkg/storage. Different: nodes are scraped each at its own ticks, so a page replaces the values of
// its node, where metrics-server replaces all nodes at once.
//
// Units: stamps are int64 milliseconds, cumulative CPU is nanoseconds, usage nanocores, memory
// bytes. A usage is the mean between two points by their own stamps, which are the runtime's: they
// differ between containers, and may repeat from page to page.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "adapter/live/formats/samples.h"

namespace flyball::kubelet {

// One measurement of a container or a node.
struct UsagePoint {
  int64_t stamp_ms = 0;
  uint64_t cpu_ns = 0;  // since the start
  uint64_t memory_bytes = 0;
  int64_t start_ms = 0;  // of the container; 0: the page does not say
};

struct PodId {
  std::string ns, name;
  friend auto operator<=>(const PodId&, const PodId&) = default;
};

// The measurements on one page.
struct NodePoints {
  std::optional<UsagePoint> node;
  std::map<PodId, std::map<std::string, UsagePoint>> pods;  // by container
};

// A node without CPU or memory is left out, and so is a pod with such a container.
// kInvalidArgument: the page can't be read.
absl::StatusOr<NodePoints> ReadNodePoints(absl::string_view page);

struct Usage {
  uint64_t cpu_nanocores = 0;
  uint64_t memory_bytes = 0;
};

struct TimedUsage {
  int64_t stamp_ms = 0, window_ms = 0;
  Usage usage;
};

struct PodUsage {
  int64_t stamp_ms = 0, window_ms = 0;  // those of the container with the earliest stamp
  std::vector<std::pair<std::string, Usage>> containers;  // sorted
};

class KubeletUsage {
 public:
  // `resolution_ms` is how often pages come. The earlier of the two points of a younger
  // container is its start.
  explicit KubeletUsage(int64_t resolution_ms) : resolution_ms_(resolution_ms) {}

  void Replace(const std::string& node, NodePoints points);
  void Remove(const std::string& node) {
    Replace(node, {});
    nodes_.erase(node);
  }

  // nullopt: unknown, or measured only once so far.
  std::optional<TimedUsage> Node(const std::string& node) const;
  std::optional<PodUsage> Pod(const PodId& pod) const;

 private:
  struct PointPair {
    UsagePoint last;
    std::optional<UsagePoint> previous;
  };
  using Containers = std::map<std::string, PointPair>;
  struct NodeUsage {
    std::optional<PointPair> node;
    std::map<PodId, Containers> pods;
  };

  PointPair Advance(const UsagePoint& now, const PointPair* before, bool container) const;
  static std::optional<TimedUsage> UsageOf(const PointPair& points);

  const int64_t resolution_ms_;
  std::map<std::string, NodeUsage> nodes_;
  std::map<PodId, std::string> node_of_;  // the node whose last page had the pod
};

}  // namespace flyball::kubelet
