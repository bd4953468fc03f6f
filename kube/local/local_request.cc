#include "kube/local/local_request.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "base/go/url.h"

namespace flyball::kube {

using nlohmann::json;

namespace {

json DiscoveredKind(const LocalKind& kind) {
  json one = {
      {"resource", kind.info.name.resource},
      {"responseKind",
       {{"group", kind.info.name.group}, {"version", kind.info.version}, {"kind", kind.info.kind}}},
      {"scope", kind.info.namespaced ? "Namespaced" : "Cluster"},
      {"singularResource", kind.info.singular},
      {"verbs", {"create", "delete", "get", "list", "patch", "update", "watch"}}};
  if (!kind.info.listable) one["verbs"] = {"create"};
  for (const char* sub : {"scale", "status"}) {
    if (!(std::string(sub) == "scale" ? kind.scale : kind.status)) continue;
    one["subresources"].push_back({{"subresource", sub}, {"verbs", {"get", "patch", "update"}}});
  }
  return one;
}

}  // namespace

LocalQuery::LocalQuery(absl::string_view target) {
  const std::pair<std::string, std::string> parts = absl::StrSplit(target, absl::MaxSplits('?', 1));
  path = parts.first;
  for (absl::string_view one : absl::StrSplit(parts.second, '&', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> pair = absl::StrSplit(one, absl::MaxSplits('=', 1));
    values[pair.first] = go::Unescape(pair.second, false);
  }
}

std::string LocalQuery::operator[](const std::string& key) const {
  const auto found = values.find(key);
  return found == values.end() ? "" : found->second;
}

bool WantsMetadata(const http::HttpCall& call) {
  return std::any_of(call.headers.begin(), call.headers.end(), [](const auto& header) {
    return absl::EqualsIgnoreCase(header.first, "accept") &&
           absl::StrContains(header.second, "as=PartialObjectMetadata");
  });
}

json Shown(const json& object, bool metadata_only) {
  if (!metadata_only) return object;
  return {{"kind", "PartialObjectMetadata"},
          {"apiVersion", "meta.k8s.io/v1"},
          {"metadata", object["metadata"]}};
}

std::string EventLine(absl::string_view type, const json& object) {
  return json{{"type", std::string(type)}, {"object", object}}.dump() + "\n";
}

http::HttpAnswer AsHttp(const LocalAnswer& answer) {
  http::HttpAnswer out;
  out.status = answer.status;
  out.headers = {{"Content-Type", "application/json"}};
  out.body = answer.body.dump();
  return out;
}

json LocalDiscovery(const std::deque<LocalKind>& kinds, bool core) {
  json groups = json::array();
  for (const LocalKind& kind : kinds) {
    const std::string& name = kind.info.name.group;
    if (name.empty() != core) continue;
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const json& one) { return one["metadata"]["name"] == name; });
    if (group == groups.end()) {
      groups.push_back({{"metadata", {{"name", name}}}, {"versions", json::array()}});
      group = groups.end() - 1;
    }
    json& versions = (*group)["versions"];
    auto version = std::find_if(versions.begin(), versions.end(), [&](const json& one) {
      return one["version"] == kind.info.version;
    });
    if (version == versions.end()) {
      versions.push_back({{"version", kind.info.version}, {"resources", json::array()}});
      version = versions.end() - 1;
    }
    (*version)["resources"].push_back(DiscoveredKind(kind));
  }
  return {{"kind", "APIGroupDiscoveryList"},
          {"apiVersion", "apidiscovery.k8s.io/v2"},
          {"metadata", json::object()},
          {"items", groups}};
}

}  // namespace flyball::kube
