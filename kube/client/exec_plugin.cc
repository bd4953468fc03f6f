#include "kube/client/exec_plugin.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kube/objects/json_members.h"

extern char** environ;

namespace flyball::kube {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxPrintedBytes = 1 << 20;

absl::Status Wrong(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("the exec plugin's answer: ", what));
}

// The plugin's own variables come before those of this process, so that they take precedence.
std::vector<std::string> VariablesFor(const ExecPlugin& plugin) {
  std::vector<std::string> variables = {absl::StrCat("KUBERNETES_EXEC_INFO=", plugin.exec_info)};
  for (const auto& [name, value] : plugin.env) variables.push_back(absl::StrCat(name, "=", value));
  const size_t own = variables.size();
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const absl::string_view text = *variable;
    const absl::string_view name = text.substr(0, text.find('=') + 1);
    bool given = false;
    for (size_t i = 0; i < own; ++i) given |= absl::StartsWith(variables[i], name);
    if (!given) variables.emplace_back(text);
  }
  return variables;
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Reads to the end. False: the time is over, or it is too much.
bool ReadAll(int fd, Clock& clock, absl::Duration timeout, std::string& out) {
  const MonotonicTime end = clock.MonotonicNow() + timeout;
  char buffer[4096];
  while (out.size() <= kMaxPrintedBytes) {
    pollfd waiting = {.fd = fd, .events = POLLIN, .revents = 0};
    const int64_t left = absl::ToInt64Milliseconds(end - clock.MonotonicNow());
    if (left <= 0) return false;
    if (poll(&waiting, 1, static_cast<int>(left)) <= 0) continue;
    const ssize_t got = read(fd, buffer, sizeof buffer);
    if (got == 0) return true;
    if (got > 0) out.append(buffer, static_cast<size_t>(got));
    if (got < 0 && errno != EINTR) return true;
  }
  return false;
}

// A started program and what it prints.
struct Started {
  pid_t pid = 0;
  int printed = -1;
};

absl::StatusOr<Started> Start(const ExecPlugin& plugin) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::UnavailableError("no pipe");
  std::vector<std::string> words = {plugin.command};
  words.insert(words.end(), plugin.args.begin(), plugin.args.end());
  std::vector<std::string> variables = VariablesFor(plugin);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  Started started = {.printed = ends[0]};
  const int error = posix_spawnp(&started.pid, plugin.command.c_str(), &actions, nullptr,
                                 Pointers(words).data(), Pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error == 0) return started;
  close(ends[0]);
  return absl::NotFoundError(
      absl::StrCat("exec plugin ", plugin.command, ": ", std::strerror(error),
                   plugin.install_hint.empty() ? "" : "\n", plugin.install_hint));
}

}  // namespace

std::string ExecInfo(const std::string& api_version, const http::TransportOptions* cluster) {
  Json info = {
      {"kind", "ExecCredential"}, {"apiVersion", api_version}, {"spec", {{"interactive", false}}}};
  if (cluster != nullptr) {
    Json& out = info["spec"]["cluster"];
    out["server"] = cluster->url;
    if (!cluster->server_name.empty()) out["tls-server-name"] = cluster->server_name;
    if (cluster->insecure_skip_verify) out["insecure-skip-tls-verify"] = true;
    if (!cluster->ca_data.empty()) {
      out["certificate-authority-data"] = absl::Base64Escape(cluster->ca_data);
    }
    out["config"] = nullptr;
  }
  return info.dump(-1, ' ', false, Json::error_handler_t::replace);
}

absl::Status TakeCredential(absl::string_view printed, const std::string& api_version,
                            http::TransportOptions& options) {
  const Json answer = Json::parse(printed.begin(), printed.end(), nullptr, false);
  if (!answer.is_object() || TextOf(answer, "kind") != "ExecCredential") {
    return Wrong("expected an ExecCredential as JSON");
  }
  if (const std::string version = TextOf(answer, "apiVersion"); version != api_version) {
    return Wrong(absl::StrCat("it is of ", version, ", the kubeconfig wants ", api_version));
  }
  const auto status = answer.find("status");
  if (status == answer.end() || !status->is_object()) return Wrong("it has no status");
  std::string token = TextOf(*status, "token");
  std::string certificate = TextOf(*status, "clientCertificateData");
  std::string key = TextOf(*status, "clientKeyData");
  if (certificate.empty() != key.empty()) {
    return Wrong("clientCertificateData and clientKeyData need each other");
  }
  if (token.empty() && certificate.empty()) return Wrong("it has neither token nor certificate");
  options.token = std::move(token);
  if (certificate.empty()) return absl::OkStatus();
  options.client_cert_data = std::move(certificate);
  options.client_key_data = std::move(key);
  options.client_cert_file.clear();
  options.client_key_file.clear();
  return absl::OkStatus();
}

absl::StatusOr<std::string> RunExecPlugin(const ExecPlugin& plugin, Clock& clock,
                                          absl::Duration timeout) {
  const absl::StatusOr<Started> started = Start(plugin);
  if (!started.ok()) return started.status();
  std::string printed;
  const bool ended = ReadAll(started->printed, clock, timeout, printed);
  close(started->printed);
  if (!ended) kill(started->pid, SIGKILL);
  int status = 0;
  while (waitpid(started->pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!ended) {
    return absl::DeadlineExceededError(
        absl::StrCat("exec plugin ", plugin.command, ": it took too long, or printed too much"));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return printed;
  return absl::PermissionDeniedError(absl::StrCat("exec plugin ", plugin.command,
                                                  ": it ended with status ",
                                                  WIFEXITED(status) ? WEXITSTATUS(status) : -1));
}

}  // namespace flyball::kube
