#include "serve/connections.h"

#include <cstdlib>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/read_file.h"
#include "base/status_macros.h"
#include "http/client/url.h"
#include "kube/client/kubeconfig.h"
#include "kube/watch/cluster_directory.h"

namespace flyball::serve {
namespace {

absl::StatusOr<http::TransportOptions> InCluster() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  return kube::InClusterOptions(variable("KUBERNETES_SERVICE_HOST"),
                                variable("KUBERNETES_SERVICE_PORT"));
}

// `K=V`, cut at the first `=`; without one the value is empty.
http::Headers ParseHeaders(const std::vector<std::string>& texts) {
  http::Headers headers;
  for (const std::string& text : texts) {
    std::pair<std::string, std::string> header = absl::StrSplit(text, absl::MaxSplits('=', 1));
    if (absl::EqualsIgnoreCase(header.first, "Host")) continue;  // without effect in the original
    headers.push_back(std::move(header));
  }
  return headers;
}

// As in the original, a file that a flag names must exist at the start, even if the URL does not
// need it.
absl::Status CheckReadable(absl::string_view flag, const std::string& path) {
  const absl::Status read = ReadFile(path).status();
  if (read.ok()) return read;
  return absl::InvalidArgumentError(absl::StrCat(flag, ": ", read.message()));
}

// The credentials of --prometheus-auth-incluster or --prometheus-auth-config, whose server address
// is not used.
absl::StatusOr<http::TransportOptions> BorrowedCredentials(const ServeFlags& flags) {
  if (flags.prometheus_auth_incluster) return InCluster();
  if (!flags.prometheus_auth_config.empty())
    return kube::LoadKubeconfig(flags.prometheus_auth_config);
  return http::TransportOptions{};
}

// A user in the URL takes precedence over all other credentials: Go's client writes that header
// first, and adds no others to a request that has one.
void LetUserOfUrlWin(http::TransportOptions& options) {
  const absl::StatusOr<http::Url> url = http::Url::Parse(options.url);
  if (!url.ok() || (url->username.empty() && url->password.empty())) return;
  for (std::string* other : {&options.token, &options.token_file, &options.password_file}) {
    other->clear();
  }
  options.username = url->username;
  options.password = url->password;
}

}  // namespace

absl::StatusOr<http::TransportOptions> PrometheusTransportOptions(const ServeFlags& flags,
                                                                  const std::string& url) {
  http::TransportOptions options;
  if (!flags.prometheus_ca_file.empty()) {
    RETURN_IF_ERROR(CheckReadable("--prometheus-ca-file", flags.prometheus_ca_file));
    options.ca_file = flags.prometheus_ca_file;
    if (!flags.prometheus_client_tls_cert_file.empty() &&
        !flags.prometheus_client_tls_key_file.empty()) {
      options.client_cert_file = flags.prometheus_client_tls_cert_file;
      options.client_key_file = flags.prometheus_client_tls_key_file;
    }
  } else {
    ASSIGN_OR_RETURN(options, BorrowedCredentials(flags));
  }
  options.url = adapter::prometheus::SplitServerUrl(url).base;
  if (!absl::StartsWith(options.url, "http://") && !absl::StartsWith(options.url, "https://")) {
    return absl::InvalidArgumentError(absl::StrCat("--prometheus-url ",
                                                   adapter::prometheus::SplitServerUrl(url).shown,
                                                   ": expected http:// or https:// and a host"));
  }
  bool authorized = false;
  for (auto& header : ParseHeaders(flags.prometheus_headers)) {
    authorized |= absl::EqualsIgnoreCase(header.first, "Authorization");
    options.headers.push_back(std::move(header));
  }
  if (authorized) {
    options.token.clear();
    options.token_file.clear();
  } else if (!flags.prometheus_token_file.empty()) {
    options.token.clear();
    options.token_file = flags.prometheus_token_file;
  }
  LetUserOfUrlWin(options);
  return options;
}

absl::StatusOr<std::unique_ptr<adapter::prometheus::Client>> MakePrometheusSource(
    const ServeFlags& flags, Clock& clock, adapter::RequestObserver* observer) {
  std::vector<adapter::prometheus::Server> servers;
  for (const std::string& url : flags.prometheus_urls) {
    ASSIGN_OR_RETURN(http::TransportOptions options, PrometheusTransportOptions(flags, url));
    ASSIGN_OR_RETURN(std::unique_ptr<http::HttpTransport> transport,
                     http::MakeHttpTransport(std::move(options), clock));
    servers.push_back({adapter::prometheus::SplitServerUrl(url), std::move(transport)});
  }
  adapter::prometheus::ClientOptions options;
  options.verb = flags.prometheus_verb == "POST" ? adapter::prometheus::ClientOptions::Verb::kPost
                                                 : adapter::prometheus::ClientOptions::Verb::kGet;
  options.timeout = flags.prometheus_timeout;
  return std::make_unique<adapter::prometheus::Client>(std::move(servers), std::move(options),
                                                       clock, observer);
}

absl::StatusOr<http::TransportOptions> ClusterTransportOptions(const std::string& kubeconfig,
                                                               const std::string& flag) {
  auto options = kubeconfig.empty() ? InCluster() : kube::LoadKubeconfig(kubeconfig);
  if (options.ok()) return options;
  return absl::Status(
      options.status().code(),
      absl::StrCat(flag, kubeconfig.empty() ? " not given: " : ": ", options.status().message()));
}

absl::StatusOr<std::unique_ptr<http::HttpTransport>> MakeClusterTransport(
    const std::string& kubeconfig, const std::string& flag, Clock& clock) {
  ASSIGN_OR_RETURN(http::TransportOptions options, ClusterTransportOptions(kubeconfig, flag));
  return http::MakeHttpTransport(std::move(options), clock);
}

std::vector<std::string> IgnoredProxyVariables() {
  std::vector<std::string> given;
  for (const char* name : {"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr && *value != '\0') given.emplace_back(name);
  }
  return given;
}

std::string PodNamespace() {
  const char* variable = std::getenv("POD_NAMESPACE");
  if (variable != nullptr && *variable != '\0') return variable;
  const std::string text =
      ReadFile(absl::StrCat(kube::kServiceAccountFolder, "/namespace")).value_or("");
  return std::string(absl::StripAsciiWhitespace(text));
}

std::string StateFolder() {
  const char* const variable = std::getenv("STATE_DIRECTORY");
  if (variable == nullptr) return "";
  const absl::string_view folders = variable;
  return std::string(folders.substr(0, folders.find(':')));  // there may be several
}

bool ScalerWatchesAllPods(const ServeFlags& flags) {
  return flags.scaler.enabled && flags.scaler.options.namespaces.empty() &&
         (flags.scaler.kubeconfig.empty() || flags.scaler.kubeconfig == flags.lister_kubeconfig);
}

namespace {

absl::StatusOr<Objects> ObjectsOf(std::unique_ptr<processes::LocalCluster> local,
                                  scaler::Scaler::MakeTransport connect, const ServeFlags& flags,
                                  Clock& clock) {
  kube::ClusterDirectoryOptions options;
  options.discovery_interval = flags.discovery_interval;
  if (ScalerWatchesAllPods(flags)) options.pods = std::make_shared<kube::PodFeed>();
  ASSIGN_OR_RETURN(auto cluster, kube::ClusterDirectory::Make(connect, clock, options));
  kube::ClusterDirectory* directory = cluster.get();
  return Objects{.cluster = std::move(local),
                 .directory = std::move(cluster),
                 .ready = [directory] { return directory->Ready(); },
                 .pods = options.pods};
}

}  // namespace

absl::StatusOr<Objects> MakeObjects(const ServeFlags& flags, Clock& clock) {
  if (!flags.objects.empty()) {
    ASSIGN_OR_RETURN(auto local,
                     processes::LocalCluster::Make(flags.objects, clock, StateFolder()));
    processes::LocalCluster* const cluster = local.get();
    return ObjectsOf(
        std::move(local), [cluster] { return cluster->Connect(); }, flags, clock);
  }
  ASSIGN_OR_RETURN(http::TransportOptions server,
                   ClusterTransportOptions(flags.lister_kubeconfig, "--lister-kubeconfig"));
  return ObjectsOf(
      nullptr, [server, &clock] { return http::MakeHttpTransport(server, clock); }, flags, clock);
}

std::function<absl::StatusOr<std::unique_ptr<http::HttpTransport>>()> ConnectionToObjects(
    const ServeFlags& flags, const Objects& objects, Clock& clock) {
  using Connection = absl::StatusOr<std::unique_ptr<http::HttpTransport>>;
  if (processes::LocalCluster* const cluster = objects.cluster.get(); cluster != nullptr) {
    return [cluster]() -> Connection { return cluster->Connect(); };
  }
  return [kubeconfig = flags.lister_kubeconfig, &clock]() -> Connection {
    return MakeClusterTransport(kubeconfig, "--lister-kubeconfig", clock);
  };
}

absl::StatusOr<http::TransportOptions> KubeletAccess(const ServeFlags& flags) {
  if (!flags.objects.empty()) {
    return absl::FailedPreconditionError(
        "--live-scrape-kubelets: with --objects there are no kubelets");
  }
  ASSIGN_OR_RETURN(http::TransportOptions access,
                   ClusterTransportOptions(flags.lister_kubeconfig, "--lister-kubeconfig"));
  // These are for the API server alone.
  access.url.clear();
  access.server_name.clear();
  access.headers.clear();
  access.insecure_skip_verify = flags.live.kubelet_insecure_tls;
  if (!flags.live.kubelet_ca_file.empty()) {
    RETURN_IF_ERROR(CheckReadable("--live-kubelet-ca-file", flags.live.kubelet_ca_file));
    access.ca_file = flags.live.kubelet_ca_file;
    access.ca_data.clear();
  }
  return access;
}

}  // namespace flyball::serve
