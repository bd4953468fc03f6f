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

// Whether a resource in an APIGroupDiscoveryList, which contains its subresources, has a scale.
bool HasScale(const json& resource) {
  const json& subresources = ItemsOf(resource, "subresources");
  return std::any_of(subresources.begin(), subresources.end(),
                     [](const json& one) { return TextOf(one, "subresource") == "scale"; });
}

// Whether a resource in an APIGroupDiscoveryList is only there for the sake of its subresources.
bool IsOnlyParent(const json& resource) {
  const json& kind = MemberOf(resource, "responseKind");
  return TextOf(kind, "group").empty() && TextOf(kind, "version").empty() &&
         TextOf(kind, "kind").empty();
}

ResourceInfo Info(const json& resource, absl::string_view group, absl::string_view version) {
  ResourceInfo info;
  info.name.group = std::string(group);
  info.version = std::string(version);
  const std::vector<std::string> verbs = TextsOf(resource, "verbs");
  info.listable = std::count(verbs.begin(), verbs.end(), "list") > 0;
  info.watchable = std::count(verbs.begin(), verbs.end(), "watch") > 0;
  return info;
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

// The resources of one group. A resource comes from the first version that has it; one without a
// name is left out.
class GroupResources {
 public:
  explicit GroupResources(std::vector<ResourceInfo>* out) : out_(out) {}
  void AddFormer(absl::Span<const ResourceInfo> former, absl::string_view group,
                 absl::string_view version) {
    for (const ResourceInfo& info : former) {
      if (info.name.group == group && info.version == version) Add(info);
    }
  }
  void Add(ResourceInfo info) {
    const std::string& name = info.name.resource;
    if (!name.empty() && seen_.insert(name).second) out_->push_back(std::move(info));
  }

 private:
  std::vector<ResourceInfo>* const out_;
  std::set<std::string> seen_;
};

// What custom.metrics.k8s.io and external.metrics.k8s.io list are metrics, not resources: a series'
// label that happens to have the name of one means no object.
bool ListsMetrics(absl::string_view group) { return absl::EndsWith(group, ".metrics.k8s.io"); }

// metrics.k8s.io has no objects, so nothing is missing while it is not served; this server may
// itself be the one that is about to serve it.
bool HasObjects(absl::string_view group) { return group != "metrics.k8s.io"; }

// Adds an APIGroupDiscoveryList, which is complete.
void AddAggregated(const json& document, absl::Span<const ResourceInfo> former, Discovery* out) {
  for (const json& item : ItemsOf(document, "items")) {
    const std::string group = TextOf(MemberOf(item, "metadata"), "name");
    if (ListsMetrics(group)) continue;
    GroupResources resources(&out->resources);
    for (const json& entry : ItemsOf(item, "versions")) {
      const std::string version = TextOf(entry, "version");
      const bool stale = TextOf(entry, "freshness") == "Stale" && HasObjects(group);
      if (stale) {
        out->problems.push_back(
            absl::StrCat(group, "/", version, ": its API server does not answer"));
      }
      for (const json& resource : ItemsOf(entry, "resources")) {
        if (IsOnlyParent(resource)) continue;
        ResourceInfo info = Info(resource, group, version);
        info.name.resource = TextOf(resource, "resource");
        info.singular = TextOf(resource, "singularResource");
        info.namespaced = TextOf(resource, "scope") == "Namespaced";
        info.scalable = HasScale(resource);
        info.kind = TextOf(MemberOf(resource, "responseKind"), "kind");
        resources.Add(std::move(info));
      }
      if (stale) resources.AddFormer(former, group, version);
    }
  }
}

// Asks for the APIResourceList of each version in turn. One that cannot be fetched is a problem.
void AddGroup(Client& client, absl::string_view path, const std::string& group,
              const std::vector<std::string>& versions, absl::Span<const ResourceInfo> former,
              Discovery* out) {
  GroupResources resources(&out->resources);
  for (const std::string& version : versions) {
    const std::string at = absl::StrCat(path, group.empty() ? "" : "/", group, "/", version);
    const absl::StatusOr<std::string> body = client.Get(at);
    const json document = body.ok() ? ParseObject(*body) : json();
    if (TextOf(document, "kind") != "APIResourceList") {
      if (body.ok() || HasObjects(group)) {
        out->problems.push_back(body.ok() ? absl::StrCat(at, ": the answer is no APIResourceList")
                                          : std::string(body.status().message()));
        resources.AddFormer(former, group, version);
      }
      continue;
    }
    std::set<std::string> names;
    for (const json& resource : ItemsOf(document, "resources")) {
      names.insert(TextOf(resource, "name"));
    }
    for (const json& resource : ItemsOf(document, "resources")) {
      ResourceInfo info = Info(resource, group, version);
      info.name.resource = TextOf(resource, "name");
      info.scalable = names.contains(absl::StrCat(info.name.resource, "/scale"));
      if (absl::StrContains(info.name.resource, "/")) continue;
      info.singular = TextOf(resource, "singularName");
      info.kind = TextOf(resource, "kind");
      info.namespaced = IsTrue(resource, "namespaced");
      resources.Add(std::move(info));
    }
  }
}

// The versions of an APIGroup, the preferred one first.
std::vector<std::string> VersionsOf(const json& group) {
  std::vector<std::string> versions;
  for (const json& version : ItemsOf(group, "versions")) {
    versions.push_back(TextOf(version, "version"));
  }
  const std::string preferred = TextOf(MemberOf(group, "preferredVersion"), "version");
  std::stable_partition(versions.begin(), versions.end(),
                        [&](const std::string& version) { return version == preferred; });
  return versions;
}

// Adds the groups below /api or /apis, in whichever form the server has.
absl::Status AddGroups(Client& client, const std::string& path,
                       absl::Span<const ResourceInfo> former, Discovery* out) {
  ASSIGN_OR_RETURN(const std::string body, client.Get(path));
  const json document = ParseObject(body);
  const std::string kind = TextOf(document, "kind");
  if (kind == "APIGroupDiscoveryList") {
    AddAggregated(document, former, out);
  } else if (kind == "APIVersions") {
    AddGroup(client, path, "", TextsOf(document, "versions"), former, out);
  } else if (kind == "APIGroupList") {
    for (const json& group : ItemsOf(document, "groups")) {
      const std::string name = TextOf(group, "name");
      if (!ListsMetrics(name)) AddGroup(client, path, name, VersionsOf(group), former, out);
    }
  } else {
    return absl::InvalidArgumentError("the answer is no list of API groups");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Discovery> Discover(http::HttpTransport& server, Clock& clock,
                                   absl::Duration timeout, absl::Span<const ResourceInfo> former) {
  Client client(server, clock, timeout);
  Discovery out;
  for (const char* path : {"/api", "/apis"}) RETURN_IF_ERROR(AddGroups(client, path, former, &out));
  return out;
}

}  // namespace flyball::kube
