#include "kube/client/kubeconfig.h"

#include <filesystem>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/read_file.h"
#include "base/status_macros.h"
#include "kube/client/exec_plugin.h"
#include "yaml-cpp/yaml.h"

namespace flyball::kube {
namespace {

namespace fs = std::filesystem;

struct Document {
  YAML::Node root;
  std::string path;
};

// An entry of a list by its name, and the document to whose folder its file names are relative.
struct NamedNode {
  YAML::Node node;
  std::string path;
};

std::string Text(const YAML::Node& node, const char* key) {
  const YAML::Node value = node[key];
  return value && !value.IsNull() ? value.as<std::string>() : std::string();
}

// Reads documents as one. Its methods throw YAML::Exception for a value of the wrong shape; the
// functions below catch.
class Reader {
 public:
  Reader(const std::vector<Document>& documents, const KubeChoice& choice)
      : documents_(documents), choice_(choice) {}

  absl::StatusOr<KubeContext> Read() const {
    std::string name = choice_.context;
    for (const Document& document : documents_) {
      if (name.empty()) name = Text(document.root, "current-context");
    }
    if (name.empty()) return Bad(documents_[0].path, "no current-context");
    ASSIGN_OR_RETURN(const NamedNode context, Named("contexts", "context", name));
    ASSIGN_OR_RETURN(const NamedNode cluster,
                     Named("clusters", "cluster", Text(context.node, "cluster")));
    KubeContext out;
    out.ns = Text(context.node, "namespace");
    RETURN_IF_ERROR(ReadCluster(cluster, &out.transport));
    const std::string user = choice_.user.empty() ? Text(context.node, "user") : choice_.user;
    if (!user.empty()) {
      ASSIGN_OR_RETURN(const NamedNode node, Named("users", "user", user));
      RETURN_IF_ERROR(ReadUser(node, &out.transport));
    }
    Impersonate(choice_.as, choice_.as_groups, &out.transport);
    return out;
  }

 private:
  static absl::Status Bad(absl::string_view path, absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", what));
  }

  // The first entry with that name: its part `inner`.
  absl::StatusOr<NamedNode> Named(const char* list, const char* inner,
                                  const std::string& name) const {
    for (const Document& document : documents_) {
      for (const YAML::Node& entry : document.root[list]) {
        if (Text(entry, "name") == name && entry[inner] && entry[inner].IsMap()) {
          return NamedNode{entry[inner], document.path};
        }
      }
    }
    return Bad(documents_[0].path, absl::StrCat("no ", inner, " named \"", name, "\""));
  }

  static std::string File(const NamedNode& of, const char* key) {
    return BesideFile(of.path, Text(of.node, key));
  }

  static std::string BesideFile(const std::string& path, const std::string& file) {
    if (file.empty() || fs::path(file).is_absolute()) return file;
    return (fs::path(path).parent_path() / file).string();
  }

  static absl::Status Data(const NamedNode& of, const char* key, std::string* data) {
    const std::string text = Text(of.node, key);
    if (text.empty() || absl::Base64Unescape(text, data)) return absl::OkStatus();
    return Bad(of.path, absl::StrCat(key, " is not base64"));
  }

  static absl::Status ReadCluster(const NamedNode& cluster, http::TransportOptions* options) {
    options->url = Text(cluster.node, "server");
    if (options->url.empty()) return Bad(cluster.path, "the cluster has no server");
    if (!absl::StrContains(options->url, "://")) options->url = "http://" + options->url;
    if (!Text(cluster.node, "proxy-url").empty()) {
      return Bad(cluster.path, "proxy-url is not supported");
    }
    options->server_name = Text(cluster.node, "tls-server-name");
    if (cluster.node["insecure-skip-tls-verify"]) {
      options->insecure_skip_verify = cluster.node["insecure-skip-tls-verify"].as<bool>();
    }
    options->ca_file = File(cluster, "certificate-authority");
    RETURN_IF_ERROR(Data(cluster, "certificate-authority-data", &options->ca_data));
    if (options->insecure_skip_verify && !(options->ca_file + options->ca_data).empty()) {
      return Bad(cluster.path,
                 "certificate-authority and insecure-skip-tls-verify exclude each other");
    }
    return absl::OkStatus();
  }

  static absl::Status Refuse(const NamedNode& user, absl::string_view plugin) {
    return Bad(user.path, absl::StrCat("the user's \"", plugin,
                                       "\" plugin is not supported; use a token, tokenFile or "
                                       "client certificate"));
  }

  absl::Status ReadUser(const NamedNode& user, http::TransportOptions* options) const {
    const YAML::Node exec = user.node["exec"];
    const bool has_exec = exec && !exec.IsNull();
    if (has_exec && choice_.run_plugin == nullptr) return Refuse(user, "exec");
    const YAML::Node provider = user.node["auth-provider"];
    if (provider && !provider.IsNull()) return Refuse(user, "auth-provider");
    options->token = Text(user.node, "token");
    options->token_file = File(user, "tokenFile");
    options->client_cert_file = File(user, "client-certificate");
    options->client_key_file = File(user, "client-key");
    RETURN_IF_ERROR(Data(user, "client-certificate-data", &options->client_cert_data));
    RETURN_IF_ERROR(Data(user, "client-key-data", &options->client_key_data));
    options->username = Text(user.node, "username");
    options->password = Text(user.node, "password");
    std::vector<std::string> groups;
    for (const YAML::Node& group : user.node["as-groups"])
      groups.push_back(group.as<std::string>());
    if (choice_.as.empty()) Impersonate(Text(user.node, "as"), groups, options);
    return has_exec ? AskPlugin(user, exec, options) : absl::OkStatus();
  }

  absl::Status AskPlugin(const NamedNode& user, const YAML::Node& exec,
                         http::TransportOptions* options) const {
    ExecPlugin plugin = {.api_version = Text(exec, "apiVersion"),
                         .command = Text(exec, "command"),
                         .args = {},
                         .env = {},
                         .install_hint = Text(exec, "installHint"),
                         .exec_info = {}};
    if (plugin.api_version != "client.authentication.k8s.io/v1" &&
        plugin.api_version != "client.authentication.k8s.io/v1beta1") {
      return Bad(user.path,
                 absl::StrCat("exec.apiVersion: expected client.authentication.k8s.io/v1 "
                              "or /v1beta1, got ",
                              plugin.api_version));
    }
    if (plugin.command.empty()) return Bad(user.path, "the user's exec has no command");
    if (absl::StrContains(plugin.command, "/")) {
      plugin.command = BesideFile(user.path, plugin.command);
    }
    for (const YAML::Node& word : exec["args"]) plugin.args.push_back(word.as<std::string>());
    for (const YAML::Node& variable : exec["env"]) {
      plugin.env.emplace_back(Text(variable, "name"), Text(variable, "value"));
    }
    const bool wants_cluster = exec["provideClusterInfo"] && exec["provideClusterInfo"].as<bool>();
    plugin.exec_info = ExecInfo(plugin.api_version, wants_cluster ? options : nullptr);
    ASSIGN_OR_RETURN(const std::string printed, choice_.run_plugin(plugin));
    return TakeCredential(printed, plugin.api_version, *options);
  }

  static void Impersonate(const std::string& user, const std::vector<std::string>& groups,
                          http::TransportOptions* options) {
    if (user.empty()) return;
    options->headers.emplace_back("Impersonate-User", user);
    for (const std::string& group : groups)
      options->headers.emplace_back("Impersonate-Group", group);
  }

  const std::vector<Document>& documents_;
  const KubeChoice& choice_;
};

// yaml-cpp's own texts name keys and shapes, never values.
absl::Status NotYaml(const std::string& path, const YAML::Exception& bad) {
  return absl::InvalidArgumentError(
      absl::StrCat(path, ":", bad.mark.line + 1, ":", bad.mark.column + 1, ": ", bad.msg));
}

absl::StatusOr<Document> ReadDocument(const std::string& text, const std::string& path) {
  try {
    Document document = {YAML::Load(text), path};
    if (document.root.IsMap()) return document;
    return absl::InvalidArgumentError(absl::StrCat(path, ": not a kubeconfig"));
  } catch (const YAML::Exception& bad) {
    return NotYaml(path, bad);
  }
}

absl::StatusOr<KubeContext> Read(const std::vector<Document>& documents, const KubeChoice& choice) {
  try {
    return Reader(documents, choice).Read();
  } catch (const YAML::Exception& bad) {
    return NotYaml(documents[0].path, bad);
  }
}

}  // namespace

absl::StatusOr<KubeContext> LoadKubeContext(const std::vector<std::string>& paths,
                                            const KubeChoice& choice) {
  std::vector<Document> documents;
  absl::Status missing = absl::InvalidArgumentError("no kubeconfig is named");
  for (const std::string& path : paths) {
    const absl::StatusOr<std::string> text = ReadFile(path);
    if (absl::IsNotFound(text.status())) {
      missing = absl::InvalidArgumentError(text.status().message());
      continue;
    }
    if (!text.ok()) return absl::InvalidArgumentError(text.status().message());
    // An empty one is what `kubectl config` begins with.
    if (absl::StripAsciiWhitespace(*text).empty() && paths.size() > 1) continue;
    ASSIGN_OR_RETURN(Document document, ReadDocument(*text, path));
    documents.push_back(std::move(document));
  }
  if (documents.empty()) return missing;
  return Read(documents, choice);
}

absl::StatusOr<http::TransportOptions> LoadKubeconfig(const std::string& path,
                                                      absl::string_view context) {
  ASSIGN_OR_RETURN(KubeContext read, LoadKubeContext({path}, {.context = std::string(context)}));
  return std::move(read.transport);
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
