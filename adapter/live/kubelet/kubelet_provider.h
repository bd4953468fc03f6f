// metrics.k8s.io out of the kubelets' own pages: what metrics-server serves, without it.
//
// Thread-safe. CPU and memory of the running pods and of the nodes that the directory knows. An
// answer costs no query and waits for nobody: it is what the last pages said, each amount with the
// stamp and the window of its own. CPU is rounded up to thousandths of a core, as every reader of
// the API rounds it that counts in them.
//
// An object that no page had twice yet, and a pod of which a container is not known, is left out.
// While no kubelet could be scraped at all, lists are degraded and say why.
#pragma once

#include <memory>

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
