#include "doctor/objects.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "doctor/json_object.h"
#include "kube/objects/json_members.h"

namespace flyball::doctor {
namespace {

using Json = nlohmann::json;
using kube::IsTrue;
using kube::ItemsOf;
using kube::MemberOf;
using kube::TextOf;
using kube::TextsOf;
using kube::TimeOf;

// The value of the last `--name=value` or `--name value`.
std::string FlagValue(const std::vector<std::string>& args, absl::string_view name) {
  std::string value;
  for (size_t i = 0; i < args.size(); ++i) {
    absl::string_view rest = args[i];
    if (!absl::ConsumePrefix(&rest, name)) continue;
    if (absl::ConsumePrefix(&rest, "=")) {
      value = std::string(rest);
    } else if (rest.empty() && i + 1 < args.size()) {
      value = args[i + 1];
    }
  }
  return value;
}

// The container that is started with rules, or else the first one.
const Json& ServerContainer(const Json& spec, std::vector<std::string>* args) {
  static const Json& none = *new Json();
  const Json* chosen = nullptr;
  for (const Json& container : ItemsOf(spec, "containers")) {
    std::vector<std::string> words = TextsOf(container, "command");
    for (std::string& word : TextsOf(container, "args")) words.push_back(std::move(word));
    const bool serves = !FlagValue(words, "--config").empty();
    if (chosen != nullptr && !serves) continue;
    chosen = &container;
    *args = std::move(words);
    if (serves) break;
  }
  return chosen == nullptr ? none : *chosen;
}

// Sets the ConfigMap and the key that the file at `path` comes from, if a ConfigMap is mounted
// there.
void FindConfigMap(const Json& spec, const Json& container, const std::string& path,
                   ServerPod& pod) {
  for (const Json& mount : ItemsOf(container, "volumeMounts")) {
    absl::string_view rest = path;
    if (!absl::ConsumePrefix(&rest, absl::StripSuffix(TextOf(mount, "mountPath"), "/")) ||
        !absl::ConsumePrefix(&rest, "/")) {
      continue;
    }
    for (const Json& volume : ItemsOf(spec, "volumes")) {
      const Json& source = MemberOf(volume, "configMap");
      if (TextOf(volume, "name") != TextOf(mount, "name") || !source.is_object()) continue;
      pod.config_map = TextOf(source, "name");
      pod.config_key = std::string(rest);
      for (const Json& item : ItemsOf(source, "items")) {
        if (TextOf(item, "path") == rest) pod.config_key = TextOf(item, "key");
      }
    }
  }
}

std::string TroubleOf(const Json& object) {
  for (const Json& status : ItemsOf(MemberOf(object, "status"), "containerStatuses")) {
    const Json& waiting = MemberOf(MemberOf(status, "state"), "waiting");
    const Json& ended = MemberOf(MemberOf(status, "lastState"), "terminated");
    if (!waiting.is_object()) continue;
    const std::string message =
        TextOf(ended, "message").empty() ? TextOf(waiting, "message") : TextOf(ended, "message");
    return absl::StrCat(TextOf(waiting, "reason"), message.empty() ? "" : ": ", message);
  }
  const Json& scheduled = ConditionOf(object, "PodScheduled");
  return TextOf(scheduled, "status") == "False" ? TextOf(scheduled, "message") : "";
}

}  // namespace

absl::StatusOr<ApiService> ReadApiService(absl::string_view json) {
  ASSIGN_OR_RETURN(const Json object, ParseObject<Json>(json, "APIService"));
  const Json& spec = MemberOf(object, "spec");
  const Json& service = MemberOf(spec, "service");
  ApiService read;
  read.name = TextOf(MemberOf(object, "metadata"), "name");
  read.group = TextOf(spec, "group");
  read.service_ns = TextOf(service, "namespace");
  read.service_name = TextOf(service, "name");
  if (MemberOf(service, "port").is_number_integer())
    read.port = MemberOf(service, "port").get<int>();
  read.insecure = IsTrue(spec, "insecureSkipTLSVerify");
  if (!absl::Base64Unescape(TextOf(spec, "caBundle"), &read.ca_bundle)) read.ca_bundle.clear();
  const Json& available = ConditionOf(object, "Available");
  read.judged = available.is_object();
  read.available = TextOf(available, "status") == "True";
  read.reason = TextOf(available, "reason");
  read.message = TextOf(available, "message");
  if (read.name.empty()) return absl::InvalidArgumentError("an APIService without a name");
  return read;
}

absl::StatusOr<Service> ReadService(absl::string_view json) {
  ASSIGN_OR_RETURN(const Json object, ParseObject<Json>(json, "Service"));
  const Json& spec = MemberOf(object, "spec");
  std::vector<std::string> selector;
  if (const Json& labels = MemberOf(spec, "selector"); labels.is_object()) {
    for (const auto& [key, value] : labels.items()) {
      if (value.is_string()) selector.push_back(absl::StrCat(key, "=", value.get<std::string>()));
    }
  }
  return Service{.type = TextOf(spec, "type"),
                 .external_name = TextOf(spec, "externalName"),
                 .cluster_ip = TextOf(spec, "clusterIP"),
                 .selector = absl::StrJoin(selector, ",")};
}

absl::StatusOr<Endpoints> ReadEndpoints(absl::string_view json) {
  ASSIGN_OR_RETURN(const Json object, ParseObject<Json>(json, "EndpointSlice"));
  Endpoints endpoints;
  for (const Json& endpoint : ItemsOf(object, "endpoints")) {
    const Json& ready =
        MemberOf(MemberOf(endpoint, "conditions"), "ready");  // absent counts as true
    if (!ready.is_boolean() || ready.get<bool>()) ++endpoints.ready;
  }
  return endpoints;
}

absl::StatusOr<ServerPod> ReadServerPod(absl::string_view json) {
  ASSIGN_OR_RETURN(const Json object, ParseObject<Json>(json, "Pod"));
  const Json& spec = MemberOf(object, "spec");
  ServerPod pod;
  pod.ns = TextOf(MemberOf(object, "metadata"), "namespace");
  pod.name = TextOf(MemberOf(object, "metadata"), "name");
  pod.created = TextOf(MemberOf(object, "metadata"), "creationTimestamp");
  pod.phase = TextOf(MemberOf(object, "status"), "phase");
  pod.leaving = !TextOf(MemberOf(object, "metadata"), "deletionTimestamp").empty();
  pod.ready = TextOf(ConditionOf(object, "Ready"), "status") == "True";
  pod.service_account = TextOf(spec, "serviceAccountName");
  const Json& container = ServerContainer(spec, &pod.args);
  FindConfigMap(spec, container, FlagValue(pod.args, "--config"), pod);
  if (!pod.ready) pod.trouble = TroubleOf(object);
  return pod;
}

absl::StatusOr<std::string> ReadConfigKey(absl::string_view json, absl::string_view key) {
  ASSIGN_OR_RETURN(const Json object, ParseObject<Json>(json, "ConfigMap"));
  const Json& value = MemberOf(MemberOf(object, "data"), std::string(key));
  if (!value.is_string()) return absl::NotFoundError(absl::StrCat("it has no key ", key));
  return value.get<std::string>();
}

absl::StatusOr<std::string> ReadVersion(absl::string_view json) {
  ASSIGN_OR_RETURN(const Json object, ParseObject<Json>(json, "version"));
  return TextOf(object, "gitVersion");
}

absl::StatusOr<std::string> ReadPreferredVersion(absl::string_view json) {
  ASSIGN_OR_RETURN(const Json object, ParseObject<Json>(json, "APIGroup"));
  return TextOf(MemberOf(object, "preferredVersion"), "version");
}

absl::StatusOr<std::vector<std::string>> ReadResourceNames(absl::string_view json) {
  ASSIGN_OR_RETURN(const Json object, ParseObject<Json>(json, "APIResourceList"));
  std::vector<std::string> names;
  for (const Json& resource : ItemsOf(object, "resources"))
    names.push_back(TextOf(resource, "name"));
  return names;
}

absl::StatusOr<bool> ReadAllowed(absl::string_view json) {
  ASSIGN_OR_RETURN(const Json object, ParseObject<Json>(json, "access review"));
  const Json& status = MemberOf(object, "status");
  if (!status.is_object()) return absl::InvalidArgumentError("an access review without a status");
  return IsTrue(status, "allowed");
}

absl::StatusOr<std::vector<MetricItem>> ReadMetricValues(absl::string_view json) {
  ASSIGN_OR_RETURN(const Json object, ParseObject<Json>(json, "list of metric values"));
  std::vector<MetricItem> items;
  for (const Json& item : ItemsOf(object, "items")) {
    items.push_back({.object = TextOf(MemberOf(item, "describedObject"), "name"),
                     .value = TextOf(item, "value"),
                     .at = TimeOf(item, "timestamp", absl::InfinitePast())});
  }
  return items;
}

absl::StatusOr<std::vector<MetricItem>> ReadPodUsage(absl::string_view json,
                                                     absl::string_view resource,
                                                     absl::string_view container) {
  ASSIGN_OR_RETURN(const Json object, ParseObject<Json>(json, "list of pod metrics"));
  const std::string name(resource);
  std::vector<MetricItem> items;
  for (const Json& pod : ItemsOf(object, "items")) {
    MetricItem item = {.object = TextOf(MemberOf(pod, "metadata"), "name"),
                       .at = TimeOf(pod, "timestamp", absl::InfinitePast())};
    for (const Json& part : ItemsOf(pod, "containers")) {
      if (!container.empty() && TextOf(part, "name") != container) continue;
      const std::string amount = TextOf(MemberOf(part, "usage"), name);
      item.complete = item.complete && !amount.empty();
      absl::StrAppend(&item.value, item.value.empty() ? "" : "+", amount);
    }
    item.complete = item.complete && !item.value.empty();
    items.push_back(std::move(item));
  }
  return items;
}

}  // namespace flyball::doctor
