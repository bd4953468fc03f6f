#include "kube/client/kubeconfig.h"

#include <filesystem>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/read_file.h"
#include "base/status_macros.h"
#include "yaml-cpp/yaml.h"

namespace flyball::kube {
namespace {

namespace fs = std::filesystem;

// Reads one document. Its methods throw YAML::Exception for a value of the wrong shape;
// ParseKubeconfig catches.
class Reader {
 public:
  Reader(const YAML::Node& root, std::string path) : root_(root), path_(std::move(path)) {}

  absl::StatusOr<http::TransportOptions> Read(absl::string_view context_name) const {
    std::string name(context_name);
    if (name.empty()) name = Text(root_, "current-context");
    if (name.empty()) return Bad("no current-context");
    ASSIGN_OR_RETURN(const YAML::Node context, Named("contexts", "context", name));
    ASSIGN_OR_RETURN(const YAML::Node cluster,
                     Named("clusters", "cluster", Text(context, "cluster")));
    http::TransportOptions options;
    RETURN_IF_ERROR(ReadCluster(cluster, &options));
    if (const std::string user = Text(context, "user"); !user.empty()) {
      ASSIGN_OR_RETURN(const YAML::Node node, Named("users", "user", user));
      RETURN_IF_ERROR(ReadUser(node, &options));
    }
    return options;
  }

 private:
  absl::Status Bad(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(path_, ": ", what));
  }

  static std::string Text(const YAML::Node& node, const char* key) {
    const YAML::Node value = node[key];
    return value && !value.IsNull() ? value.as<std::string>() : std::string();
  }

  // The entry of `list` with that name: its part `inner`.
  absl::StatusOr<YAML::Node> Named(const char* list, const char* inner,
                                   const std::string& name) const {
    for (const YAML::Node& entry : root_[list]) {
      if (Text(entry, "name") == name && entry[inner] && entry[inner].IsMap()) return entry[inner];
    }
    return Bad(absl::StrCat("no ", inner, " named \"", name, "\""));
  }

  std::string File(const YAML::Node& node, const char* key) const {
    const std::string file = Text(node, key);
    if (file.empty() || fs::path(file).is_absolute()) return file;
    return (fs::path(path_).parent_path() / file).string();
  }

  absl::Status Data(const YAML::Node& node, const char* key, std::string* data) const {
    const std::string text = Text(node, key);
    if (text.empty() || absl::Base64Unescape(text, data)) return absl::OkStatus();
    return Bad(absl::StrCat(key, " is not base64"));
  }

  absl::Status ReadCluster(const YAML::Node& cluster, http::TransportOptions* options) const {
    options->url = Text(cluster, "server");
    if (options->url.empty()) return Bad("the cluster has no server");
    if (!absl::StrContains(options->url, "://")) options->url = "http://" + options->url;
    if (!Text(cluster, "proxy-url").empty()) return Bad("proxy-url is not supported");
    options->server_name = Text(cluster, "tls-server-name");
    if (cluster["insecure-skip-tls-verify"]) {
      options->insecure_skip_verify = cluster["insecure-skip-tls-verify"].as<bool>();
    }
    options->ca_file = File(cluster, "certificate-authority");
    RETURN_IF_ERROR(Data(cluster, "certificate-authority-data", &options->ca_data));
    if (options->insecure_skip_verify && !(options->ca_file + options->ca_data).empty()) {
      return Bad("certificate-authority and insecure-skip-tls-verify exclude each other");
    }
    return absl::OkStatus();
  }

  absl::Status ReadUser(const YAML::Node& user, http::TransportOptions* options) const {
    for (const char* plugin : {"exec", "auth-provider"}) {
      if (!user[plugin] || user[plugin].IsNull()) continue;
      return Bad(absl::StrCat("the user's \"", plugin,
                              "\" plugin is not supported; use a token, tokenFile or client "
                              "certificate"));
    }
    options->token = Text(user, "token");
    options->token_file = File(user, "tokenFile");
    options->client_cert_file = File(user, "client-certificate");
    options->client_key_file = File(user, "client-key");
    RETURN_IF_ERROR(Data(user, "client-certificate-data", &options->client_cert_data));
    RETURN_IF_ERROR(Data(user, "client-key-data", &options->client_key_data));
    options->username = Text(user, "username");
    options->password = Text(user, "password");
    if (const std::string as = Text(user, "as"); !as.empty()) {
      options->headers.emplace_back("Impersonate-User", as);
      for (const YAML::Node& group : user["as-groups"]) {
        options->headers.emplace_back("Impersonate-Group", group.as<std::string>());
      }
    }
    return absl::OkStatus();
  }

  const YAML::Node root_;
  const std::string path_;
};

}  // namespace

absl::StatusOr<http::TransportOptions> ParseKubeconfig(const std::string& text,
                                                       const std::string& path,
                                                       absl::string_view context) {
  try {
    const YAML::Node root = YAML::Load(text);
    if (!root.IsMap()) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": not a kubeconfig"));
    }
    return Reader(root, path).Read(context);
  } catch (const YAML::Exception& bad) {
    // yaml-cpp's own texts name keys and shapes, never values.
    return absl::InvalidArgumentError(
        absl::StrCat(path, ":", bad.mark.line + 1, ":", bad.mark.column + 1, ": ", bad.msg));
  }
}

absl::StatusOr<http::TransportOptions> LoadKubeconfig(const std::string& path,
                                                      absl::string_view context) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return absl::InvalidArgumentError(text.status().message());
  return ParseKubeconfig(*text, path, context);
}

absl::StatusOr<http::TransportOptions> InClusterOptions(absl::string_view host,
                                                        absl::string_view port,
                                                        const std::string& folder) {
  if (host.empty() || port.empty()) {
    return absl::FailedPreconditionError(
        "not inside a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set");
  }
  http::TransportOptions options;
  const bool ipv6 = absl::StrContains(host, ":");
  options.url = absl::StrCat("https://", ipv6 ? "[" : "", host, ipv6 ? "]" : "", ":", port);
  options.token_file = folder + "/token";
  if (!fs::exists(options.token_file)) {
    return absl::FailedPreconditionError(
        absl::StrCat("the pod has no service account token: ", options.token_file));
  }
  options.ca_file = folder + "/ca.crt";
  return options;
}

}  // namespace flyball::kube
