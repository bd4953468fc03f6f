#include "doctor/objects.h"

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"

namespace flyball::doctor {
namespace {

using Json = nlohmann::json;

absl::StatusOr<Json> ParseObject(absl::string_view text, absl::string_view what) {
  Json json = Json::parse(text.begin(), text.end(), nullptr, false);
  if (!json.is_object()) return absl::InvalidArgumentError(absl::StrCat("no ", what));
  return json;
}

// A member of an object; null when it is absent or when this is no object.
const Json& At(const Json& json, const char* name) {
  static const Json& none = *new Json();
  if (!json.is_object()) return none;
  const auto found = json.find(name);
  return found == json.end() ? none : *found;
}

std::string Text(const Json& json, const char* name) {
  const Json& value = At(json, name);
  return value.is_string() ? value.get<std::string>() : "";
}

bool True(const Json& json, const char* name) {
  const Json& value = At(json, name);
  return value.is_boolean() && value.get<bool>();
}

const Json& Items(const Json& json, const char* name) {
  static const Json& none = *new Json(Json::array());
  const Json& value = At(json, name);
  return value.is_array() ? value : none;
}

std::vector<std::string> Texts(const Json& json, const char* name) {
  std::vector<std::string> texts;
  for (const Json& item : Items(json, name)) {
    if (item.is_string()) texts.push_back(item.get<std::string>());
  }
  return texts;
}

// The condition of that type; null when there is none.
const Json& Condition(const Json& object, absl::string_view type) {
  static const Json& none = *new Json();
  for (const Json& condition : Items(At(object, "status"), "conditions")) {
    if (Text(condition, "type") == type) return condition;
  }
  return none;
}

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

// The container that is started with rules; the first when none is.
const Json& ServerContainer(const Json& spec, std::vector<std::string>* args) {
  static const Json& none = *new Json();
  const Json* chosen = nullptr;
  for (const Json& container : Items(spec, "containers")) {
    std::vector<std::string> words = Texts(container, "command");
    for (std::string& word : Texts(container, "args")) words.push_back(std::move(word));
    const bool serves = !FlagValue(words, "--config").empty();
    if (chosen != nullptr && !serves) continue;
    chosen = &container;
    *args = std::move(words);
    if (serves) break;
  }
  return chosen == nullptr ? none : *chosen;
}

// Where the file of that path comes from, when it is a key of a mounted ConfigMap.
void FindConfigMap(const Json& spec, const Json& container, const std::string& path,
                   ServerPod& pod) {
  for (const Json& mount : Items(container, "volumeMounts")) {
    absl::string_view rest = path;
    if (!absl::ConsumePrefix(&rest, absl::StripSuffix(Text(mount, "mountPath"), "/")) ||
        !absl::ConsumePrefix(&rest, "/")) {
      continue;
    }
    for (const Json& volume : Items(spec, "volumes")) {
      const Json& source = At(volume, "configMap");
      if (Text(volume, "name") != Text(mount, "name") || !source.is_object()) continue;
      pod.config_map = Text(source, "name");
      pod.config_key = std::string(rest);
      for (const Json& item : Items(source, "items")) {
        if (Text(item, "path") == rest) pod.config_key = Text(item, "key");
      }
    }
  }
}

std::string TroubleOf(const Json& object) {
  for (const Json& status : Items(At(object, "status"), "containerStatuses")) {
    const Json& waiting = At(At(status, "state"), "waiting");
    const Json& ended = At(At(status, "lastState"), "terminated");
    if (!waiting.is_object()) continue;
    const std::string message =
        Text(ended, "message").empty() ? Text(waiting, "message") : Text(ended, "message");
    return absl::StrCat(Text(waiting, "reason"), message.empty() ? "" : ": ", message);
  }
  const Json& scheduled = Condition(object, "PodScheduled");
  return Text(scheduled, "status") == "False" ? Text(scheduled, "message") : "";
}

absl::Time TimeOf(const Json& item) {
  absl::Time time = absl::UnixEpoch();
  std::string error;
  if (!absl::ParseTime(absl::RFC3339_full, Text(item, "timestamp"), &time, &error)) {
    return absl::InfinitePast();
  }
  return time;
}

}  // namespace

absl::StatusOr<ApiService> ReadApiService(absl::string_view json) {
  ASSIGN_OR_RETURN(const Json object, ParseObject(json, "APIService"));
  const Json& spec = At(object, "spec");
  const Json& service = At(spec, "service");
  ApiService read;
  read.name = Text(At(object, "metadata"), "name");
  read.group = Text(spec, "group");
  read.version = Text(spec, "version");
  read.service_ns = Text(service, "namespace");
  read.service_name = Text(service, "name");
  if (At(service, "port").is_number_integer()) read.port = At(service, "port").get<int>();
  read.insecure = True(spec, "insecureSkipTLSVerify");
  if (!absl::Base64Unescape(Text(spec, "caBundle"), &read.ca_bundle)) read.ca_bundle.clear();
  const Json& available = Condition(object, "Available");
  read.judged = available.is_object();
  read.available = Text(available, "status") == "True";
  read.reason = Text(available, "reason");
  read.message = Text(available, "message");
  if (read.name.empty()) return absl::InvalidArgumentError("an APIService without a name");
  return read;
}

absl::StatusOr<Service> ReadService(absl::string_view json) {
  ASSIGN_OR_RETURN(const Json object, ParseObject(json, "Service"));
  const Json& spec = At(object, "spec");
  std::vector<std::string> selector;
  if (const Json& labels = At(spec, "selector"); labels.is_object()) {
    for (const auto& [key, value] : labels.items()) {
      if (value.is_string()) selector.push_back(absl::StrCat(key, "=", value.get<std::string>()));
    }
  }
  return Service{.type = Text(spec, "type"),
                 .external_name = Text(spec, "externalName"),
                 .cluster_ip = Text(spec, "clusterIP"),
                 .selector = absl::StrJoin(selector, ",")};
}

absl::StatusOr<Endpoints> ReadEndpoints(absl::string_view json) {
  ASSIGN_OR_RETURN(const Json object, ParseObject(json, "EndpointSlice"));
  Endpoints endpoints;
  for (const Json& endpoint : Items(object, "endpoints")) {
    const Json& ready = At(At(endpoint, "conditions"), "ready");  // absent counts as true
    ++(ready.is_boolean() && !ready.get<bool>() ? endpoints.unready : endpoints.ready);
  }
  return endpoints;
}

absl::StatusOr<ServerPod> ReadServerPod(absl::string_view json) {
  ASSIGN_OR_RETURN(const Json object, ParseObject(json, "Pod"));
  const Json& spec = At(object, "spec");
  ServerPod pod;
  pod.ns = Text(At(object, "metadata"), "namespace");
  pod.name = Text(At(object, "metadata"), "name");
  pod.created = Text(At(object, "metadata"), "creationTimestamp");
  pod.phase = Text(At(object, "status"), "phase");
  pod.leaving = !Text(At(object, "metadata"), "deletionTimestamp").empty();
  pod.ready = Text(Condition(object, "Ready"), "status") == "True";
  pod.service_account = Text(spec, "serviceAccountName");
  const Json& container = ServerContainer(spec, &pod.args);
  FindConfigMap(spec, container, FlagValue(pod.args, "--config"), pod);
  if (!pod.ready) pod.trouble = TroubleOf(object);
  return pod;
}

absl::StatusOr<std::string> ReadConfigKey(absl::string_view json, absl::string_view key) {
  ASSIGN_OR_RETURN(const Json object, ParseObject(json, "ConfigMap"));
  const Json& value = At(At(object, "data"), std::string(key).c_str());
  if (!value.is_string()) return absl::NotFoundError(absl::StrCat("it has no key ", key));
  return value.get<std::string>();
}

absl::StatusOr<std::string> ReadVersion(absl::string_view json) {
  ASSIGN_OR_RETURN(const Json object, ParseObject(json, "version"));
  return Text(object, "gitVersion");
}

absl::StatusOr<std::string> ReadPreferredVersion(absl::string_view json) {
  ASSIGN_OR_RETURN(const Json object, ParseObject(json, "APIGroup"));
  return Text(At(object, "preferredVersion"), "version");
}

absl::StatusOr<std::vector<std::string>> ReadResourceNames(absl::string_view json) {
  ASSIGN_OR_RETURN(const Json object, ParseObject(json, "APIResourceList"));
  std::vector<std::string> names;
  for (const Json& resource : Items(object, "resources")) names.push_back(Text(resource, "name"));
  return names;
}

absl::StatusOr<bool> ReadAllowed(absl::string_view json) {
  ASSIGN_OR_RETURN(const Json object, ParseObject(json, "access review"));
  const Json& status = At(object, "status");
  if (!status.is_object()) return absl::InvalidArgumentError("an access review without a status");
  return True(status, "allowed");
}

absl::StatusOr<std::vector<MetricItem>> ReadMetricValues(absl::string_view json) {
  ASSIGN_OR_RETURN(const Json object, ParseObject(json, "list of metric values"));
  std::vector<MetricItem> items;
  for (const Json& item : Items(object, "items")) {
    items.push_back({.object = Text(At(item, "describedObject"), "name"),
                     .value = Text(item, "value"),
                     .at = TimeOf(item)});
  }
  return items;
}

absl::StatusOr<std::vector<MetricItem>> ReadPodUsage(absl::string_view json,
                                                     absl::string_view resource,
                                                     absl::string_view container) {
  ASSIGN_OR_RETURN(const Json object, ParseObject(json, "list of pod metrics"));
  const std::string name(resource);
  std::vector<MetricItem> items;
  for (const Json& pod : Items(object, "items")) {
    MetricItem item = {.object = Text(At(pod, "metadata"), "name"), .at = TimeOf(pod)};
    for (const Json& part : Items(pod, "containers")) {
      if (!container.empty() && Text(part, "name") != container) continue;
      const std::string amount = Text(At(part, "usage"), name.c_str());
      item.complete = item.complete && !amount.empty();
      absl::StrAppend(&item.value, item.value.empty() ? "" : "+", amount);
    }
    item.complete = item.complete && !item.value.empty();
    items.push_back(std::move(item));
  }
  return items;
}

}  // namespace flyball::doctor
