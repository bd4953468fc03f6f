// Serves metrics.k8s.io from the kubelets' own pages, in place of metrics-server.
//
// Thread-safe. It returns CPU and memory of the running pods and of the nodes that the directory
// knows. An answer needs no query and no waiting: it comes from the last pages, each amount with
// its own stamp and window. CPU is rounded up to thousandths of a core, as clients of the API that
// use thousandths round it.
//
// An object is left out until it was on two pages, and so is a pod with a container that is
// unknown. As long as no kubelet could be scraped at all, lists are marked as degraded and say why.
#pragma once

#include "adapter/live/kubelet/kubelet_pages.h"
#include "adapter/provider.h"
#include "kube/objects/object_directory.h"

namespace flyball::kubelet {

class KubeletProvider : public adapter::ResourceMetricsProvider {
 public:
  // Both outlive it.
  KubeletProvider(const KubeletPages& pages, kube::ObjectDirectory& directory)
      : pages_(pages), directory_(directory) {}

  absl::StatusOr<adapter::ResourceMetricList<adapter::PodMetrics>> Pods(
      absl::string_view ns, absl::string_view name, const adapter::ObjectFilter& filter,
      absl::Duration timeout) override;
  absl::StatusOr<adapter::ResourceMetricList<adapter::NodeMetrics>> Nodes(
      absl::string_view name, const adapter::ObjectFilter& filter, absl::Duration timeout) override;
  uint64_t Epoch() const override { return directory_.Generation(); }

 private:
  std::string Degraded() const;

  const KubeletPages& pages_;
  kube::ObjectDirectory& directory_;
};

}  // namespace flyball::kubelet
