// The flags of kubectl for cluster, user and namespace, for all subcommands that use a cluster.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "http/client/transport.h"

namespace CLI {
class App;
}

namespace flyball::cmd {

struct ClusterFlags {
  std::string kubeconfig, context, user, server;
  std::string as;
  std::vector<std::string> as_groups;
  std::string ns;  // "": not given
};

// `server` is the help of --server; nullptr: there is no such flag.
void AddClusterFlags(CLI::App& app, ClusterFlags& flags, const char* server);

struct Cluster {
  http::TransportOptions transport;
  bool inside = false;         // this process is in one of its pods
  std::string ns = "default";  // --namespace, else that of the context
};

// If --server is an http address (`kubectl proxy`), connects by it alone. Otherwise uses the first
// of --kubeconfig, the files of $KUBECONFIG, ~/.kube/config, and the pod that this process runs in;
// --server then replaces the address. Runs an exec plugin of the user.
//   kInvalidArgument  something is missing or wrong; the message says what
absl::StatusOr<Cluster> ConnectTo(const ClusterFlags& flags, Clock& clock);

// Whether this process runs in a pod and no kubeconfig names a cluster.
bool InPod(const ClusterFlags& flags);

}  // namespace flyball::cmd
