#include "convert/knative_pods.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kube/objects/json_members.h"

namespace flyball::convert {
namespace {

using Json = nlohmann::ordered_json;
using kube::ItemsOf;
using kube::MemberOf;
using kube::NumberOf;
using kube::TextOf;

constexpr char kContainerName[] = "user-container";
// For which a pod that is deleted still takes requests (docs/scale-to-zero.md, "When a pod ends").
constexpr int kDrainSeconds = 2;

// The container that takes requests: the one with a port, or the only one.
std::optional<size_t> ServingContainer(const Json& containers) {
  if (containers.size() == 1) return 0;
  std::optional<size_t> found;
  for (size_t i = 0; i < containers.size(); ++i) {
    if (ItemsOf(containers[i], "ports").empty()) continue;
    if (found.has_value()) return std::nullopt;
    found = i;
  }
  return found;
}

// Gives a probe without a port the port of requests, which Knative means by that.
void SetProbePort(Json& probe, int64_t port) {
  for (const char* const handler : {"httpGet", "tcpSocket", "grpc"}) {
    if (!probe.contains(handler)) continue;
    if (!probe[handler].is_object()) probe[handler] = Json::object();
    const Json& written = MemberOf(probe[handler], "port");
    if (written.is_null() || written == 0) probe[handler]["port"] = port;
  }
}

// Sets the shortest period that Kubernetes has, one second; Knative itself probes a pod that is not
// ready yet many times a second.
void SetReadiness(Json& container, int64_t port, const std::string& path, Manifests& out) {
  Json& probe = container["readinessProbe"];
  if (!probe.is_object()) probe = Json::object();
  const bool asks = absl::c_any_of(std::vector<const char*>{"httpGet", "tcpSocket", "grpc", "exec"},
                                   [&](const char* how) { return probe.contains(how); });
  if (!asks) probe["tcpSocket"] = Json::object();
  SetProbePort(probe, port);
  if (NumberOf(probe, "periodSeconds") == 0) probe["periodSeconds"] = 1;
  if (probe.contains("exec")) {
    out.Remark(absl::StrCat(path,
                            ".readinessProbe is a command: the first pod after zero counts "
                            "once Kubernetes says that it is ready."));
  }
}

void SetEnvironment(Json& container, int64_t port, const std::string& path, Manifests& out) {
  if (!MemberOf(container, "env").is_null() && !container["env"].is_array()) {
    return out.Refuse(absl::StrCat(path, ".env"), "expected a list");
  }
  for (const Json& variable : ItemsOf(container, "env")) {
    if (TextOf(variable, "name") == "PORT") return;
  }
  container["env"].push_back({{"name", "PORT"}, {"value", absl::StrCat(port)}});
}

KnativePods MakeServing(Json& container, const std::string& path, Manifests& out) {
  KnativePods pods;
  const Json& ports = ItemsOf(container, "ports");
  std::string name;
  if (!ports.empty()) {
    name = TextOf(ports[0], "name");
    if (const int64_t port = NumberOf(ports[0], "containerPort"); port != 0) pods.port = port;
  }
  pods.h2c = name == "h2c";
  if (name.empty()) name = "http1";
  container["ports"] = Json::array({{{"name", name}, {"containerPort", pods.port}}});
  SetReadiness(container, pods.port, path, out);
  for (const char* const probe : {"livenessProbe", "startupProbe"}) {
    if (MemberOf(container, probe).is_object()) SetProbePort(container[probe], pods.port);
  }
  SetEnvironment(container, pods.port, path, out);
  return pods;
}

// Knative keeps SIGTERM from its containers until the pod's last request is over.
void SetDrain(Json& container) {
  if (!MemberOf(container, "lifecycle").is_null()) return;
  container["lifecycle"] = {{"preStop", {{"sleep", {{"seconds", kDrainSeconds}}}}}};
}

void RemarkImage(const Json& container, const std::string& path, Manifests& out) {
  const std::string image = TextOf(container, "image");
  if (image.empty() || absl::StrContains(image, "@sha256:")) return;
  out.Remark(absl::StrCat(path,
                          ".image has no digest: Knative looked it up once for a revision, "
                          "a Deployment takes what the tag means when a pod starts."));
}

}  // namespace

KnativePods MakeKnativePods(Json& spec, const std::string& path, Manifests& out) {
  Json& containers = spec["containers"];
  const std::optional<size_t> serving =
      containers.is_array() ? ServingContainer(containers) : std::nullopt;
  if (!serving.has_value()) {
    out.Refuse(absl::StrCat(path, ".containers"),
               "exactly one container must take requests: the only one, or the one with ports");
    return {};
  }
  KnativePods pods;
  for (size_t i = 0; i < containers.size(); ++i) {
    Json& container = containers[i];
    const std::string at = absl::StrCat(path, ".containers[", i, "]");
    if (!container.is_object()) {
      out.Refuse(at, "expected an object");
      return {};
    }
    if (TextOf(container, "name").empty()) {
      Json named = {{"name", i == 0 ? kContainerName : absl::StrCat(kContainerName, "-", i)}};
      container.erase("name");
      named.update(container);
      container = std::move(named);
    }
    RemarkImage(container, at, out);
    if (i == *serving) pods = MakeServing(container, at, out);
    SetDrain(container);
  }
  out.Remark(
      absl::StrCat("Knative sent SIGTERM after a pod's last request. Here it comes ", kDrainSeconds,
                   " s after the pod is deleted (preStop): the program must finish its requests "
                   "after SIGTERM, before it ends."));
  const int64_t timeout = NumberOf(spec, "timeoutSeconds");
  // It counts from the deletion, so the pause before SIGTERM is a part of it.
  spec["terminationGracePeriodSeconds"] =
      (timeout > 0 ? timeout : kKnativeTimeoutSeconds) + kDrainSeconds;
  for (const char* const ours : {"containerConcurrency", "timeoutSeconds", "idleTimeoutSeconds",
                                 "responseStartTimeoutSeconds"}) {
    spec.erase(ours);
  }
  if (!spec.contains("enableServiceLinks")) spec["enableServiceLinks"] = false;
  return pods;
}

}  // namespace flyball::convert
