#include "kube/client/discovery.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "kube/client/api_error.h"
#include "kube/objects/json_members.h"
#include "nlohmann/json.hpp"

namespace flyball::kube {
namespace {

using nlohmann::json;

constexpr char kAccept[] =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,"
    "application/json";

json ParseObject(absl::string_view body) {
  json parsed = json::parse(body.begin(), body.end(), nullptr, false);
  return parsed.is_object() ? std::move(parsed) : json::object();
}

bool HasVerb(const json& resource, absl::string_view verb) {
  const json& verbs = ItemsOf(resource, "verbs");
  return std::any_of(verbs.begin(), verbs.end(), [&](const json& one) {
    return one.is_string() && one.get_ref<const std::string&>() == verb;
  });
}

// Of a resource in an APIGroupDiscoveryList, which holds its subresources.
bool HasScale(const json& resource) {
  const json& subresources = ItemsOf(resource, "subresources");
  return std::any_of(subresources.begin(), subresources.end(),
                     [](const json& one) { return TextOf(one, "subresource") == "scale"; });
}

ResourceInfo Info(const json& resource, absl::string_view group, absl::string_view version) {
  ResourceInfo info;
  info.name.group = std::string(group);
  info.version = std::string(version);
  info.listable = HasVerb(resource, "list");
  info.watchable = HasVerb(resource, "watch");
  return info;
}

absl::Status NotA(absl::string_view kind) {
  return absl::InvalidArgumentError(absl::StrCat("the answer is no ", kind));
}

// One discovery's calls share one time limit.
class Client {
 public:
  Client(http::HttpTransport& server, Clock& clock, absl::Duration timeout)
      : server_(server), clock_(clock), deadline_(clock_.MonotonicNow() + timeout) {}

  absl::StatusOr<std::string> Get(const std::string& path) {
    http::HttpCall call;
    call.target = path;
    call.headers = {{"Accept", kAccept}};
    call.timeout = deadline_ - clock_.MonotonicNow();
    ASSIGN_OR_RETURN(http::HttpAnswer answer, server_.Do(call));
    if (answer.status != 200) return ApiError(path, answer.status, answer.body);
    return std::move(answer.body);
  }

 private:
  http::HttpTransport& server_;
  Clock& clock_;
  const MonotonicTime deadline_;
};

// /api or /apis, in whichever form the server has.
absl::StatusOr<std::vector<DiscoveredGroup>> AskGroups(Client& client, const std::string& path,
                                                       std::vector<std::string>* problems) {
  ASSIGN_OR_RETURN(const std::string body, client.Get(path));
  absl::StatusOr<std::vector<DiscoveredGroup>> groups = ReadGroupDiscoveryList(body, problems);
  if (groups.ok()) return groups;
  ASSIGN_OR_RETURN(groups, ReadGroupList(body));
  for (DiscoveredGroup& group : *groups) {
    for (DiscoveredVersion& version : group.versions) {
      const std::string at = group.name.empty()
                                 ? absl::StrCat(path, "/", version.version)
                                 : absl::StrCat(path, "/", group.name, "/", version.version);
      const absl::StatusOr<std::string> list = client.Get(at);
      if (!list.ok()) {
        problems->push_back(std::string(list.status().message()));
        continue;
      }
      auto resources = ReadResourceList(*list, group.name, version.version);
      if (!resources.ok()) {
        problems->push_back(absl::StrCat(at, ": ", resources.status().message()));
        continue;
      }
      version.resources = *std::move(resources);
    }
  }
  return groups;
}

// A resource comes from the first version of its group that has it.
void AddGroup(DiscoveredGroup group, std::vector<ResourceInfo>* resources) {
  std::set<std::string> seen;
  for (DiscoveredVersion& version : group.versions) {
    for (ResourceInfo& info : version.resources) {
      if (seen.insert(info.name.resource).second) resources->push_back(std::move(info));
    }
  }
}

}  // namespace

absl::StatusOr<std::vector<DiscoveredGroup>> ReadGroupDiscoveryList(
    absl::string_view body, std::vector<std::string>* problems) {
  const json document = ParseObject(body);
  if (TextOf(document, "kind") != "APIGroupDiscoveryList") return NotA("APIGroupDiscoveryList");
  std::vector<DiscoveredGroup> groups;
  for (const json& item : ItemsOf(document, "items")) {
    DiscoveredGroup group;
    group.name = TextOf(MemberOf(item, "metadata"), "name");
    for (const json& entry : ItemsOf(item, "versions")) {
      DiscoveredVersion version;
      version.version = TextOf(entry, "version");
      if (TextOf(entry, "freshness") == "Stale") {
        problems->push_back(
            absl::StrCat(group.name, "/", version.version, ": its API server does not answer"));
      }
      for (const json& resource : ItemsOf(entry, "resources")) {
        ResourceInfo info = Info(resource, group.name, version.version);
        info.name.resource = TextOf(resource, "resource");
        info.singular = TextOf(resource, "singularResource");
        info.namespaced = TextOf(resource, "scope") == "Namespaced";
        info.scalable = HasScale(resource);
        info.kind = TextOf(MemberOf(resource, "responseKind"), "kind");
        if (!info.name.resource.empty()) version.resources.push_back(std::move(info));
      }
      group.versions.push_back(std::move(version));
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

absl::StatusOr<std::vector<DiscoveredGroup>> ReadGroupList(absl::string_view body) {
  const json document = ParseObject(body);
  const std::string kind = TextOf(document, "kind");
  std::vector<DiscoveredGroup> groups;
  if (kind == "APIVersions") {
    DiscoveredGroup& core = groups.emplace_back();
    for (const json& version : ItemsOf(document, "versions")) {
      if (version.is_string()) core.versions.push_back({version.get<std::string>(), {}});
    }
    return groups;
  }
  if (kind != "APIGroupList") return NotA("list of API groups");
  for (const json& item : ItemsOf(document, "groups")) {
    DiscoveredGroup& group = groups.emplace_back();
    group.name = TextOf(item, "name");
    for (const json& version : ItemsOf(item, "versions")) {
      group.versions.push_back({TextOf(version, "version"), {}});
    }
    const std::string preferred = TextOf(MemberOf(item, "preferredVersion"), "version");
    std::stable_partition(
        group.versions.begin(), group.versions.end(),
        [&](const DiscoveredVersion& version) { return version.version == preferred; });
  }
  return groups;
}

absl::StatusOr<std::vector<ResourceInfo>> ReadResourceList(absl::string_view body,
                                                           absl::string_view group,
                                                           absl::string_view version) {
  const json document = ParseObject(body);
  if (TextOf(document, "kind") != "APIResourceList") return NotA("APIResourceList");
  std::vector<ResourceInfo> resources;
  std::set<std::string> names;
  for (const json& resource : ItemsOf(document, "resources"))
    names.insert(TextOf(resource, "name"));
  for (const json& resource : ItemsOf(document, "resources")) {
    ResourceInfo info = Info(resource, group, version);
    info.name.resource = TextOf(resource, "name");
    info.scalable = names.count(absl::StrCat(info.name.resource, "/scale")) > 0;
    if (info.name.resource.empty() || absl::StrContains(info.name.resource, "/")) continue;
    info.singular = TextOf(resource, "singularName");
    info.kind = TextOf(resource, "kind");
    info.namespaced = IsTrue(resource, "namespaced");
    resources.push_back(std::move(info));
  }
  return resources;
}

absl::StatusOr<Discovery> Discover(http::HttpTransport& server, Clock& clock,
                                   absl::Duration timeout) {
  Client client(server, clock, timeout);
  Discovery out;
  for (const char* path : {"/api", "/apis"}) {
    ASSIGN_OR_RETURN(std::vector<DiscoveredGroup> groups, AskGroups(client, path, &out.problems));
    for (DiscoveredGroup& group : groups) AddGroup(std::move(group), &out.resources);
  }
  return out;
}

}  // namespace flyball::kube
