#include "serve/front/carried_pod.h"

#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "kube/objects/json_members.h"

namespace flyball::serve {
namespace {

using kube::MemberOf;
using nlohmann::json;

std::string Text(const json& object, const std::string& key) {
  const json& value = MemberOf(object, key);
  if (value.is_string()) return value.get<std::string>();
  return value.is_number_integer() ? absl::StrCat(value.get<int64_t>()) : "";
}

// The check that corresponds to the container's probe; nullopt if it cannot be made from here with
// the same result.
std::optional<ReadinessCheck> ReadCheck(const json& container) {
  if (MemberOf(container, "startupProbe").is_object()) return std::nullopt;
  const json& probe = MemberOf(container, "readinessProbe");
  if (!probe.is_object()) return ReadinessCheck();
  if (kube::NumberOf(probe, "successThreshold") > 1) return std::nullopt;
  if (const json& tcp = MemberOf(probe, "tcpSocket"); tcp.is_object()) {
    if (!Text(tcp, "host").empty()) return std::nullopt;
    return ReadinessCheck{.port = Text(tcp, "port")};
  }
  const json& get = MemberOf(probe, "httpGet");
  if (!get.is_object() || Text(get, "scheme") == "HTTPS" || !Text(get, "host").empty()) {
    return std::nullopt;
  }
  ReadinessCheck check{.kind = ReadinessCheck::Kind::kHttpGet, .port = Text(get, "port")};
  if (const std::string path = Text(get, "path"); !path.empty()) check.path = path;
  if (!absl::StartsWith(check.path, "/")) check.path = absl::StrCat("/", check.path);
  const json& headers = MemberOf(get, "httpHeaders");
  if (headers.is_array() && !headers.empty()) {
    // Of headers only Host is sent, which virtual hosts need.
    for (const json& header : headers) {
      if (!absl::EqualsIgnoreCase(Text(header, "name"), "host")) return std::nullopt;
      check.host = Text(header, "value");
    }
  }
  return check;
}

void ReadPorts(const json& container, CarriedPod& pod) {
  for (const json& port : MemberOf(container, "ports")) {
    const json& number = MemberOf(port, "containerPort");
    const std::string name = Text(port, "name");
    if (number.is_number_integer() && !name.empty()) {
      pod.ports.emplace(name, number.get<int32_t>());
    }
  }
}

void ReadContainers(const json& spec, CarriedPod& pod) {
  const json& containers = kube::ItemsOf(spec, "containers");
  if (containers.empty()) return;
  size_t probed = 0;
  for (const json& container : containers) {
    ReadPorts(container, pod);
    if (MemberOf(container, "readinessProbe").is_object() ||
        MemberOf(container, "startupProbe").is_object()) {
      ++probed;
      pod.check = ReadCheck(container);
    }
  }
  if (probed == 0) pod.check = ReadinessCheck();
  // All containers have to pass, but only one is asked here: with several probes only the kubelet's
  // result counts. So it does where others have a say, which are init containers that go on beside
  // the containers, and readiness gates.
  bool others = !kube::ItemsOf(spec, "readinessGates").empty();
  for (const json& init : kube::ItemsOf(spec, "initContainers")) {
    if (Text(init, "restartPolicy") != "Always") continue;
    ReadPorts(init, pod);
    others |= MemberOf(init, "readinessProbe").is_object();
  }
  if (probed > 1 || others) pod.check.reset();
  pod.unproven = probed == 0 && !others;
}

bool IsReady(const json& conditions) {
  if (!conditions.is_array()) return false;
  for (const json& condition : conditions) {
    if (Text(condition, "type") == "Ready") return Text(condition, "status") == "True";
  }
  return false;
}

// While one of several containers does not run the kubelet has the pod unready, whichever it is.
// Init containers, also those that go on beside the others, are reported apart and do not count:
// the containers run only after them.
void ReadRuns(const json& status, CarriedPod& pod) {
  pod.running = Text(status, "phase") == "Running";
  for (const json& container : kube::ItemsOf(status, "containerStatuses")) {
    const json& state = MemberOf(container, "state");
    // Between two runs the pod's phase is still Running.
    if (MemberOf(state, "waiting").is_object() || MemberOf(state, "terminated").is_object()) {
      pod.running = false;
    }
    pod.restarts += kube::NumberOf(container, "restartCount");
  }
}

}  // namespace

absl::StatusOr<CarriedPod> ReadCarriedPod(absl::string_view text) {
  const json object = json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  const json& metadata = MemberOf(object, "metadata");
  CarriedPod pod;
  pod.name = Text(metadata, "name");
  pod.uid = Text(metadata, "uid");
  if (pod.name.empty()) return absl::InvalidArgumentError("it is no pod");
  if (pod.uid.empty()) pod.uid = pod.name;
  const json& labels = MemberOf(metadata, "labels");
  if (labels.is_object()) {
    for (const auto& [key, value] : labels.items()) pod.labels[key] = Text(labels, key);
  }
  pod.deleting = !Text(metadata, "deletionTimestamp").empty();
  const json& spec = MemberOf(object, "spec");
  pod.node = Text(spec, "nodeName");
  ReadContainers(spec, pod);
  const json& status = MemberOf(object, "status");
  pod.ip = Text(status, "podIP");
  ReadRuns(status, pod);
  pod.ready = Text(status, "phase") == "Running" && IsReady(MemberOf(status, "conditions"));
  return pod;
}

std::string AddressOf(const CarriedPod& pod, absl::string_view port) {
  if (pod.ip.empty()) return "";
  int32_t number = 0;
  if (!absl::SimpleAtoi(port, &number)) {
    const auto named = pod.ports.find(std::string(port));
    if (named == pod.ports.end()) return "";
    number = named->second;
  }
  const bool v6 = absl::StrContains(pod.ip, ':');
  return absl::StrCat(v6 ? "[" : "", pod.ip, v6 ? "]:" : ":", number);
}

front::PodView ViewOf(const CarriedPod& pod, absl::string_view target_port) {
  return {.uid = pod.uid,
          .address = AddressOf(pod, target_port),
          .running = pod.running,
          .ready = pod.ready,
          .deleting = pod.deleting,
          .probeable = pod.check.has_value(),
          .unproven = pod.unproven,
          .name = pod.name,
          .restarts = pod.restarts,
          .node = pod.node};
}

}  // namespace flyball::serve
