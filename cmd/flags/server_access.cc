#include "cmd/flags/server_access.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "cmd/flags/doctor_flags.h"
#include "http/client/url.h"
#include "kube/client/api_client.h"
#include "kube/client/kubeconfig.h"
#include "kube/objects/json_members.h"
#include "serve/debug_pages.h"

namespace flyball::cmd {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kOwnPodUrl[] = "https://127.0.0.1:6443";  // the chart's port
constexpr char kWithout[] =
    "; without it: `kubectl port-forward` to flyball, and --server with --token-file";

// The options for calling --server, with the credentials of the flags.
absl::StatusOr<http::TransportOptions> DirectOptions(const ServerFlags& flags) {
  http::TransportOptions options;
  if (!flags.kubeconfig.empty()) {
    ASSIGN_OR_RETURN(options, kube::LoadKubeconfig(flags.kubeconfig, flags.context));
    // flyball's certificate is not signed by the cluster's CA.
    options.ca_data.clear();
    options.ca_file.clear();
    options.server_name.clear();
    options.insecure_skip_verify = false;
  }
  options.url = flags.server;
  if (!flags.token_file.empty()) options.token_file = flags.token_file;
  if (!flags.client_certificate.empty()) {
    options.client_cert_file = flags.client_certificate;
    options.client_key_file = flags.client_key;
  }
  options.ca_file = flags.ca_file;
  options.insecure_skip_verify = flags.insecure;
  return options;
}

// The options for calling the server in this same pod, whose certificate is for the name of its
// Service.
http::TransportOptions OwnPodOptions(const ServerFlags& flags) {
  http::TransportOptions options;
  const char* const elsewhere = std::getenv("FLYBALL_SERVER");  // the chart sets it
  options.url = elsewhere != nullptr ? elsewhere : kOwnPodUrl;
  options.token_file = flags.token_file.empty()
                           ? absl::StrCat(kube::kServiceAccountFolder, "/token")
                           : flags.token_file;
  options.insecure_skip_verify = true;
  return options;
}

// The message of an API server's Status, or the beginning of any other answer.
std::string ReasonOf(const std::string& body) {
  const Json status = Json::parse(body, nullptr, false);
  const std::string message = status.is_object() ? kube::TextOf(status, "message") : body;
  return message.substr(0, 300);
}

}  // namespace

void AddServerFlags(CLI::App& app, ServerFlags& flags) {
  AddClusterFlags(app, flags,
                  "Address of flyball, as kubectl port-forward has it; by default it is found in "
                  "the cluster and asked through the API server");
  app.add_option("--token-file", flags.token_file,
                 "With --server: send the bearer token in this file");
  CLI::Option* certificate = app.add_option("--client-certificate", flags.client_certificate,
                                            "With --server: present this client certificate (PEM)");
  app.add_option("--client-key", flags.client_key, "Key of that certificate")->needs(certificate);
  app.add_option("--ca-file", flags.ca_file,
                 "With --server: CA certificates (PEM) that its certificate is checked with");
  app.add_flag("--insecure-skip-tls-verify", flags.insecure,
               "With --server: do not check its certificate");
}

absl::StatusOr<ServerAccess> ServerAccess::Direct(const ServerFlags& flags, Clock& clock) {
  http::TransportOptions options = OwnPodOptions(flags);
  if (!flags.server.empty()) {
    ASSIGN_OR_RETURN(options, DirectOptions(flags));
  }
  ServerAccess access;
  access.shown_ = options.url;
  if (!flags.ns.empty()) access.ns_ = flags.ns;
  access.prefixes_ = {""};
  ASSIGN_OR_RETURN(access.transport_, http::MakeHttpTransport(std::move(options), clock));
  return access;
}

absl::StatusOr<ServerAccess> ServerAccess::Find(const ServerFlags& flags, Clock& clock) {
  if (!flags.server.empty() || InPod(flags)) return Direct(flags, clock);
  ServerAccess access;
  ASSIGN_OR_RETURN(Cluster cluster, ConnectTo(flags, clock));
  access.ns_ = cluster.ns;
  access.shown_ = cluster.transport.url;
  ASSIGN_OR_RETURN(access.transport_, http::MakeHttpTransport(std::move(cluster.transport), clock));
  const doctor::ClusterFacts facts =
      doctor::LookAtCluster(*access.transport_, clock, {.url = access.shown_});
  if (!facts.version.ok()) {
    return absl::UnavailableError(
        absl::StrCat("the API server at ", access.shown_, ": ",
                     http::WithoutOrigin(facts.version.status().message(), access.shown_)));
  }
  RETURN_IF_ERROR(access.AddPods(facts));
  const doctor::ServerPod& pod = *facts.RuleServer()->server();
  RETURN_IF_ERROR(access.TakeToken(
      pod.ns, pod.service_account.empty() ? "default" : pod.service_account, clock));
  return access;
}

absl::Status ServerAccess::AddPods(const doctor::ClusterFacts& facts) {
  const doctor::Backend* const backend = facts.RuleServer();
  if (backend == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("no pod of flyball can be seen behind the metrics APIs of ", shown_,
                     ": `flyball doctor` says why", kWithout));
  }
  for (const doctor::ServerPod& pod : *backend->pods) {
    if (!pod.ready) continue;
    const int port = SettingsOf(pod.args).server.listen.port;
    prefixes_.push_back(
        absl::StrCat("/api/v1/namespaces/", pod.ns, "/pods/https:", pod.name, ":", port, "/proxy"));
  }
  if (!prefixes_.empty()) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("no pod of ", backend->full_name(), " is ready: `flyball doctor` says why"));
}

absl::Status ServerAccess::TakeToken(const std::string& ns, const std::string& account,
                                     Clock& clock) {
  account_ = absl::StrCat("system:serviceaccount:", ns, ":", account);
  kube::ApiClient api(*transport_, clock);
  const auto answer =
      api.Create(kube::ObjectPath("", "v1", ns, "serviceaccounts", account, "token"),
                 R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest",)"
                 R"("spec":{"expirationSeconds":600}})");
  if (!answer.ok()) {
    return absl::Status(answer.status().code(), absl::StrCat("no token for ", account_, ": ",
                                                             answer.status().message(), kWithout));
  }
  const Json json = Json::parse(*answer, nullptr, false);
  token_ = json.is_object() ? kube::TextOf(kube::MemberOf(json, "status"), "token") : "";
  return token_.empty() ? absl::UnavailableError("the API server gave no token") : absl::OkStatus();
}

absl::StatusOr<std::string> ServerAccess::Get(size_t replica, const std::string& page) {
  http::HttpCall call;
  call.target = prefixes_[replica] + page;
  if (!token_.empty()) call.headers.emplace_back(serve::kTokenHeader, token_);
  ASSIGN_OR_RETURN(http::HttpAnswer answer, transport_->Do(call));
  const std::string path = page.substr(0, page.find('?'));
  const std::string who = absl::StrCat(shown_, prefixes_[replica]);
  if (answer.status == 200) return std::move(answer.body);
  if (answer.status == 404) {
    return absl::NotFoundError(absl::StrCat(who, " has no ", path, ": is it flyball",
                                            path == "/debug/decisions" ? " with --scaler?" : "?"));
  }
  if (answer.status == 401 || answer.status == 403) {
    return absl::PermissionDeniedError(absl::StrCat(
        who, " answered ", answer.status, ": it answers only users who may `get` the path ", path,
        account_.empty() ? "; see --token-file and --kubeconfig"
                         : absl::StrCat(", which ", account_, " may not")));
  }
  return absl::UnavailableError(
      absl::StrCat(who, " answered ", answer.status, ": ", ReasonOf(answer.body)));
}

absl::StatusOr<std::string> ServerAccess::GetFromAny(const std::string& page) {
  absl::StatusOr<std::string> answer = absl::UnavailableError("there is no replica");
  for (size_t i = 0; i < replicas() && !answer.ok(); ++i) answer = Get(i, page);
  return answer;
}

}  // namespace flyball::cmd
