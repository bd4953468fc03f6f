#include "cmd/flyball/doctor_flags.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "serve/connections.h"
#include "serve/debug_pages.h"
#include "serve/go_flags.h"

namespace flyball::cmd {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The kubeconfig that kubectl would take; "": none.
std::string KubeconfigOf(const DoctorFlags& flags) {
  if (!flags.kubeconfig.empty()) return flags.kubeconfig;
  for (const absl::string_view path : absl::StrSplit(Variable("KUBECONFIG"), ':')) {
    if (!path.empty()) return std::string(path);
  }
  const std::string home = absl::StrCat(Variable("HOME"), "/.kube/config");
  return std::ifstream(home).good() ? home : "";
}

// KIND/NAME or NAME.
absl::Status TakeObject(const std::string& object, DoctorFlags& flags) {
  if (object.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const serve::NamedAutoscaler named, serve::ParseNamedAutoscaler(object));
  if (named.kind.has_value()) {
    flags.kind = *named.kind == scaler::AutoscalerKind::kHpa ? "hpa" : "autoscaler";
  }
  flags.name = named.name;
  if (flags.all) return absl::InvalidArgumentError("name one autoscaler, or ask for --all");
  if (flags.ns.empty()) flags.ns = "default";
  return absl::OkStatus();
}

absl::Status Check(const DoctorFlags& flags) {
  if (flags.timeout <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError("--timeout: expected more than 0");
  }
  if (flags.prometheus.prometheus_verb != "GET" && flags.prometheus.prometheus_verb != "POST") {
    return absl::InvalidArgumentError("--prometheus-verb: expected GET or POST");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DoctorFlags> DoctorFlagsFrom(const Args& args) {
  DoctorFlags flags;
  std::string object, output = "text";
  CLI::App app(
      "Checks the whole chain from an autoscaler to its series, and names the remedy of each "
      "break.",
      "flyball doctor");
  app.add_option("object", object,
                 "hpa/NAME, autoscaler/NAME or NAME; without one the cluster and the rules")
      ->type_name("KIND/NAME");
  app.add_option("-n,--namespace", flags.ns, "Its namespace (default by default); of --all: only");
  app.add_flag("-A,--all", flags.all, "Check every autoscaler");
  app.add_option("--kubeconfig", flags.kubeconfig,
                 "The cluster and the user; by default as kubectl, or those of the pod");
  app.add_option("--server", flags.server,
                 "Address of the API server, as http://127.0.0.1:8001 of `kubectl proxy`")
      ->type_name("URL");
  app.add_option("--config", flags.config,
                 "Rule file; by default that of the server, from its ConfigMap");
  app.add_option("-o,--output", output, "text (the default) or json")
      ->check(CLI::IsMember({"text", "json"}));
  AddDialectFlags(app, "Whose HPA controller runs; auto asks the API server", flags.dialect);
  serve::GoFlags go(app);
  go.Duration("timeout", flags.timeout, "limit on each call");
  serve::AddPrometheusFlags(go, flags.prometheus);
  try {
    app.parse(Args(args.rbegin(), args.rend()));
  } catch (const CLI::CallForHelp&) {
    flags.help = app.help();
    return flags;
  } catch (const CLI::ParseError& error) {
    return absl::InvalidArgumentError(error.what());
  }
  flags.json = output == "json";
  RETURN_IF_ERROR(TakeObject(object, flags));
  RETURN_IF_ERROR(Check(flags));
  ASSIGN_OR_RETURN(flags.dialect.choice,
                   scaler::ParseDialectChoice(flags.dialect.version, flags.dialect.gates));
  return flags;
}

absl::StatusOr<Cluster> ClusterOf(const DoctorFlags& flags) {
  Cluster cluster;
  if (absl::StartsWith(flags.server, "http://")) {
    cluster.transport.url = flags.server;
    return cluster;
  }
  const std::string kubeconfig = KubeconfigOf(flags);
  cluster.inside = kubeconfig.empty();
  auto transport = serve::ClusterTransportOptions(kubeconfig, "--kubeconfig");
  if (!transport.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(std::string(transport.status().message()),
                     "; `kubectl proxy` and --server=http://127.0.0.1:8001 do without it"));
  }
  cluster.transport = *std::move(transport);
  if (!flags.server.empty()) cluster.transport.url = flags.server;
  return cluster;
}

serve::ServeFlags SettingsOf(const std::vector<std::string>& words) {
  Args args(words);
  // What stands before the flags is the program and its command.
  while (!args.empty() && !absl::StartsWith(args.front(), "-")) args.erase(args.begin());
  auto flags = serve::ParseServeFlags(args);
  return flags.ok() ? *std::move(flags) : serve::ServeFlags();
}

}  // namespace flyball::cmd
