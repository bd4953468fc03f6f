#include "cmd/flags/cluster_flags.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "kube/client/exec_plugin.h"
#include "kube/client/kubeconfig.h"
#include "serve/connections.h"

namespace flyball::cmd {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The kubeconfig files that kubectl would read; empty if there are none.
std::vector<std::string> KubeconfigsOf(const ClusterFlags& flags) {
  if (!flags.kubeconfig.empty()) return {flags.kubeconfig};
  std::vector<std::string> paths = absl::StrSplit(Variable("KUBECONFIG"), ':', absl::SkipEmpty());
  if (!paths.empty()) return paths;
  const std::string home = absl::StrCat(Variable("HOME"), "/.kube/config");
  if (std::ifstream(home).good()) paths.push_back(home);
  return paths;
}

absl::StatusOr<kube::KubeContext> ContextOf(const ClusterFlags& flags,
                                            const std::vector<std::string>& paths, Clock& clock) {
  kube::KubeChoice choice = {
      .context = flags.context, .user = flags.user, .as = flags.as, .as_groups = flags.as_groups};
  choice.run_plugin = [&clock](const kube::ExecPlugin& plugin) {
    return kube::RunExecPlugin(plugin, clock);
  };
  if (!paths.empty()) return kube::LoadKubeContext(paths, choice);
  kube::KubeContext inside;
  ASSIGN_OR_RETURN(inside.transport, serve::ClusterTransportOptions("", "--kubeconfig"));
  if (!flags.context.empty())
    return absl::InvalidArgumentError("--context: there is no kubeconfig");
  if (!flags.user.empty()) return absl::InvalidArgumentError("--user: there is no kubeconfig");
  if (!flags.as.empty()) inside.transport.headers.emplace_back("Impersonate-User", flags.as);
  for (const std::string& group : flags.as_groups) {
    inside.transport.headers.emplace_back("Impersonate-Group", group);
  }
  return inside;
}

}  // namespace

void AddClusterFlags(CLI::App& app, ClusterFlags& flags, const char* server) {
  app.add_option("-n,--namespace", flags.ns, "Namespace; by default that of the context");
  app.add_option("--context", flags.context, "Context of the kubeconfig");
  app.add_option("--user", flags.user, "User of the kubeconfig; by default the context's");
  app.add_option("--kubeconfig", flags.kubeconfig,
                 "The cluster and the user; by default as kubectl ($KUBECONFIG, which may name "
                 "several files, then ~/.kube/config), or those of the pod");
  CLI::Option* const as = app.add_option("--as", flags.as, "Ask as this user");
  app.add_option("--as-group", flags.as_groups, "Ask as a member of this group; repeatable")
      ->needs(as)
      ->allow_extra_args(false)
      ->take_all();
  if (server != nullptr) app.add_option("-s,--server", flags.server, server)->type_name("URL");
}

absl::StatusOr<Cluster> ConnectTo(const ClusterFlags& flags, Clock& clock) {
  Cluster cluster;
  if (!flags.ns.empty()) cluster.ns = flags.ns;
  if (absl::StartsWith(flags.server, "http://")) {
    if (!flags.as.empty() || !flags.user.empty() || !flags.context.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--server=", flags.server,
          " is asked without credentials, so --as, --user and --context cannot be used with it"));
    }
    cluster.transport.url = flags.server;
    return cluster;
  }
  const std::vector<std::string> paths = KubeconfigsOf(flags);
  cluster.inside = paths.empty();
  absl::StatusOr<kube::KubeContext> context = ContextOf(flags, paths, clock);
  if (!context.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(flags.kubeconfig.empty() ? "" : "--kubeconfig: ", context.status().message(),
                     "; `kubectl proxy` and --server=http://127.0.0.1:8001 do without it"));
  }
  cluster.transport = std::move(context->transport);
  if (flags.ns.empty() && !context->ns.empty()) cluster.ns = context->ns;
  if (!flags.server.empty()) cluster.transport.url = flags.server;
  return cluster;
}

bool InPod(const ClusterFlags& flags) {
  return KubeconfigsOf(flags).empty() && !Variable("KUBERNETES_SERVICE_HOST").empty();
}

}  // namespace flyball::cmd
