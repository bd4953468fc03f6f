// The address of a cluster and the credentials for it, from kubeconfig files or from inside a pod.
//
// Reads files when called; what the result names as files is re-read by the transport. Differs from
// client-go: `auth-provider` plugins and `proxy-url` are refused with their name, and so is `exec`
// where the caller brings nothing to run it with.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "http/client/transport.h"

namespace flyball::kube {

// A program that prints credentials, as the user's `exec` names it.
struct ExecPlugin {
  std::string api_version;  // client.authentication.k8s.io/v1 or /v1beta1
  std::string command;      // a name for $PATH, or a path
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;
  std::string install_hint;  // shown to the user if the command does not exist
  std::string exec_info;     // $KUBERNETES_EXEC_INFO: an ExecCredential with the question
};

// Runs a plugin and returns what it prints. Errors name the command.
using RunPlugin = std::function<absl::StatusOr<std::string>(const ExecPlugin& plugin)>;

struct KubeChoice {
  std::string context = {};  // "": the files' current-context
  std::string user = {};     // of the files; "": the context's
  std::string as = {};       // impersonated user; "": the file's, or none
  std::vector<std::string> as_groups = {};
  RunPlugin run_plugin = nullptr;  // empty: a user with `exec` is refused
};

struct KubeContext {
  http::TransportOptions transport;
  std::string ns;  // of the context; "": it names none
};

// Merges the files as kubectl merges $KUBECONFIG: of two entries of one name the first counts, and
// so does the first current-context; missing files are ignored, unless all are missing. Relative
// file names are relative to the folder of the file that has them. kInvalidArgument with
// `file:line:column: what` or the name of what is missing; no message shows a credential.
absl::StatusOr<KubeContext> LoadKubeContext(const std::vector<std::string>& paths,
                                            const KubeChoice& choice);

// Reads one file, without plugins.
absl::StatusOr<http::TransportOptions> LoadKubeconfig(const std::string& path,
                                                      absl::string_view context = "");

inline constexpr char kServiceAccountFolder[] = "/var/run/secrets/kubernetes.io/serviceaccount";

// `host` and `port` are the pod's KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT. The token
// and the CA are files of `folder`. kFailedPrecondition if this is no pod.
absl::StatusOr<http::TransportOptions> InClusterOptions(
    absl::string_view host, absl::string_view port,
    const std::string& folder = kServiceAccountFolder);

}  // namespace flyball::kube
