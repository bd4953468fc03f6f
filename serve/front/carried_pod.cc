#include "serve/front/carried_pod.h"

#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace flyball::serve {
namespace {

using nlohmann::json;

const json kNone;

const json& At(const json& object, const char* key) {
  if (!object.is_object()) return kNone;
  const auto found = object.find(key);
  return found == object.end() ? kNone : *found;
}

std::string Text(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_number_integer() ? absl::StrCat(value.get<int64_t>()) : "";
}

// The check that corresponds to the container's probe; nullopt if it cannot be made from here with
// the same result.
std::optional<ReadinessCheck> ReadCheck(const json& container) {
  if (At(container, "startupProbe").is_object()) return std::nullopt;
  const json& probe = At(container, "readinessProbe");
  if (!probe.is_object()) return ReadinessCheck();
  if (const json& tcp = At(probe, "tcpSocket"); tcp.is_object()) {
    if (!Text(At(tcp, "host")).empty()) return std::nullopt;
    return ReadinessCheck{.port = Text(At(tcp, "port"))};
  }
  const json& get = At(probe, "httpGet");
  if (!get.is_object() || Text(At(get, "scheme")) == "HTTPS" || !Text(At(get, "host")).empty()) {
    return std::nullopt;
  }
  ReadinessCheck check{.kind = ReadinessCheck::Kind::kHttpGet, .port = Text(At(get, "port"))};
  if (const std::string path = Text(At(get, "path")); !path.empty()) check.path = path;
  if (!absl::StartsWith(check.path, "/")) check.path = absl::StrCat("/", check.path);
  const json& headers = At(get, "httpHeaders");
  if (headers.is_array() && !headers.empty()) {
    // Of headers only Host is sent, which virtual hosts need.
    for (const json& header : headers) {
      if (!absl::EqualsIgnoreCase(Text(At(header, "name")), "host")) return std::nullopt;
      check.host = Text(At(header, "value"));
    }
  }
  return check;
}

void ReadContainers(const json& containers, CarriedPod& pod) {
  if (!containers.is_array()) return;
  size_t probed = 0;
  for (const json& container : containers) {
    for (const json& port : At(container, "ports")) {
      const json& number = At(port, "containerPort");
      const std::string name = Text(At(port, "name"));
      if (number.is_number_integer() && !name.empty()) {
        pod.ports.emplace(name, number.get<int32_t>());
      }
    }
    const bool probes =
        At(container, "readinessProbe").is_object() || At(container, "startupProbe").is_object();
    if (probes || containers.size() == 1) {
      ++probed;
      pod.check = ReadCheck(container);
    }
  }
  // All containers have to pass, but only one is asked here: with several probes only the kubelet's
  // result counts.
  if (probed > 1) pod.check.reset();
  if (probed == 0) pod.check = ReadinessCheck();
}

bool IsReady(const json& conditions) {
  if (!conditions.is_array()) return false;
  for (const json& condition : conditions) {
    if (Text(At(condition, "type")) == "Ready") return Text(At(condition, "status")) == "True";
  }
  return false;
}

}  // namespace

absl::StatusOr<CarriedPod> ReadCarriedPod(absl::string_view text) {
  const json object = json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  const json& metadata = At(object, "metadata");
  CarriedPod pod;
  pod.name = Text(At(metadata, "name"));
  pod.uid = Text(At(metadata, "uid"));
  if (pod.name.empty()) return absl::InvalidArgumentError("it is no pod");
  if (pod.uid.empty()) pod.uid = pod.name;
  const json& labels = At(metadata, "labels");
  if (labels.is_object()) {
    for (const auto& [key, value] : labels.items()) pod.labels[key] = Text(value);
  }
  pod.deleting = !Text(At(metadata, "deletionTimestamp")).empty();
  ReadContainers(At(At(object, "spec"), "containers"), pod);
  const json& status = At(object, "status");
  pod.ip = Text(At(status, "podIP"));
  pod.running = Text(At(status, "phase")) == "Running";
  pod.ready = pod.running && IsReady(At(status, "conditions"));
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
          .name = pod.name};
}

}  // namespace flyball::serve
