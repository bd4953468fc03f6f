// Which cluster, as whom, which namespace: the flags of kubectl, for all subcommands that ask one.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
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
  std::string ns;  // "": none was given
};

// `server`: its help; nullptr: there is no such flag.
void AddClusterFlags(CLI::App& app, ClusterFlags& flags, const char* server);

struct Cluster {
  http::TransportOptions transport;
  bool inside = false;         // this is a pod of it
  std::string ns = "default";  // --namespace, else that of the context
};

// --server over http alone (`kubectl proxy`); else --kubeconfig, the files of $KUBECONFIG,
// ~/.kube/config, the pod this runs in; --server then takes the place of its address. An exec
// plugin of the user is run. kInvalidArgument: what is missing or wrong.
absl::StatusOr<Cluster> ConnectTo(const ClusterFlags& flags, Clock& clock);

// Whether this is a pod and no kubeconfig says otherwise.
bool InPod(const ClusterFlags& flags);

}  // namespace flyball::cmd
