// The connections of `flyball serve`, made from its flags: Prometheus and the Kubernetes API.
//
// Reads the files that the flags name, and the two variables by which a pod knows its API server.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "adapter/prometheus/client.h"
#include "base/clock.h"
#include "http/client/transport.h"
#include "kube/objects/object_directory.h"
#include "kube/watch/pod_feed.h"
#include "processes/local_cluster.h"
#include "serve/flags.h"

namespace flyball::serve {

// The options for one --prometheus-url, with the credentials of the other flags. As in
// prometheus-adapter 0.12.0: with a CA file both auth flags are ignored, and the client certificate
// is only read with a CA file; a user in the URL takes precedence over a token.
absl::StatusOr<http::TransportOptions> PrometheusTransportOptions(const ServeFlags& flags,
                                                                  const std::string& url);

// All --prometheus-url, in order. `clock` and `observer` (may be nullptr) outlive the source.
absl::StatusOr<std::unique_ptr<adapter::prometheus::Client>> MakePrometheusSource(
    const ServeFlags& flags, Clock& clock, adapter::RequestObserver* observer);

// The cluster of a kubeconfig; if `kubeconfig` is "", that of the pod that this process runs in.
// `flag` is for the message.
absl::StatusOr<http::TransportOptions> ClusterTransportOptions(const std::string& kubeconfig,
                                                               const std::string& flag);
// The clock outlives the transport.
absl::StatusOr<std::unique_ptr<http::HttpTransport>> MakeClusterTransport(
    const std::string& kubeconfig, const std::string& flag, Clock& clock);

// The variables that name a proxy, which Go's programs use and this one does not; for a warning.
std::vector<std::string> IgnoredProxyVariables();

// The namespace of the pod that this runs in: the variable POD_NAMESPACE, or the file of its
// service account; "" if this is no pod.
std::string PodNamespace();

// The folder that systemd gives a service for its state (STATE_DIRECTORY); "" if there is none.
std::string StateFolder();

// Whether the scaler watches all pods of the cluster that objects come from, with the same
// credentials, so that no second watch is needed.
bool ScalerWatchesAllPods(const ServeFlags& flags);

// The objects of a cluster. The folder of --objects is one too: its objects can be written, and the
// processes of its ProcessSets run once it is started.
struct Objects {
  std::unique_ptr<processes::LocalCluster> cluster;  // of a folder; else nullptr
  std::unique_ptr<kube::ObjectDirectory> directory;
  std::function<absl::Status()> ready;  // OK once the resources are known
  std::shared_ptr<kube::PodFeed> pods;  // to be fed by the scaler; nullptr: it need not be
};
// kInvalidArgument, kFailedPrecondition: the flag and what is wrong. The clock outlives them.
absl::StatusOr<Objects> MakeObjects(const ServeFlags& flags, Clock& clock);

// Connects to the API server that these objects come from; the clock and the objects outlive the
// result.
std::function<absl::StatusOr<std::unique_ptr<http::HttpTransport>>()> ConnectionToObjects(
    const ServeFlags& flags, const Objects& objects, Clock& clock);

// The credentials for the kubelets of that cluster: the same as for the cluster, with the CA of the
// flags.
// kInvalidArgument, kFailedPrecondition: the flag and what is wrong.
absl::StatusOr<http::TransportOptions> KubeletAccess(const ServeFlags& flags);

}  // namespace flyball::serve
