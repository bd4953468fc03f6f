// Where a cluster is and as whom to call it: from a kubeconfig file, or from inside a pod.
//
// Reads files when called; what the result names as files is re-read by the transport. Differs from
// client-go: `exec` and `auth-provider` plugins and `proxy-url` are refused with their name.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "http/client/transport.h"

namespace flyball::kube {

// `context` "" is the file's current-context. Relative file names are relative to the file's
// folder. kInvalidArgument with `file:line:column: what` or the name of what is missing; no message
// shows a credential.
absl::StatusOr<http::TransportOptions> LoadKubeconfig(const std::string& path,
                                                      absl::string_view context = "");

// The same for a text; `path` is for messages and relative file names.
absl::StatusOr<http::TransportOptions> ParseKubeconfig(const std::string& text,
                                                       const std::string& path,
                                                       absl::string_view context = "");

inline constexpr char kServiceAccountFolder[] = "/var/run/secrets/kubernetes.io/serviceaccount";

// `host` and `port` are the pod's KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT. The token
// and the CA are files of `folder`. kFailedPrecondition if this is no pod.
absl::StatusOr<http::TransportOptions> InClusterOptions(
    absl::string_view host, absl::string_view port,
    const std::string& folder = kServiceAccountFolder);

}  // namespace flyball::kube
