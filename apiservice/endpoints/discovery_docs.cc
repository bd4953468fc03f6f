#include "apiservice/endpoints/discovery_docs.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "apiservice/endpoints/openapi.h"
#include "apiservice/requests/digest.h"
#include "apiservice/requests/router.h"
#include "apiservice/wire/text.h"
#include "http/server/event_workers.h"

namespace flyball::apiservice {
namespace {

Document MakeDocument(std::string json, DocumentForms::Shared& forms) {
  std::string hash = Sha256Hex(json);
  return {std::make_shared<const std::string>(std::move(json)), std::move(hash),
          std::make_shared<DocumentForms>(forms)};
}

std::vector<wire::ApiResource> CustomResources(
    const std::vector<adapter::CustomMetricInfo>& metrics) {
  std::vector<wire::ApiResource> resources;
  resources.reserve(metrics.size());
  for (const adapter::CustomMetricInfo& metric : metrics) {
    resources.push_back({absl::StrCat(metric.resource.ToString(), "/", metric.metric),
                         metric.namespaced,
                         "MetricValueList",
                         {"get"}});
  }
  return resources;
}

std::vector<wire::ApiResource> ExternalResources(const std::vector<std::string>& metrics) {
  std::vector<wire::ApiResource> resources;
  resources.reserve(metrics.size());
  for (const std::string& metric : metrics) {
    resources.push_back({metric, true, "ExternalMetricValueList", {"get"}});
  }
  return resources;
}

std::shared_ptr<const OpenApiDocuments> MakeOpenApi(const std::vector<wire::DiscoveryGroup>& groups,
                                                    DocumentForms::Shared& forms) {
  auto documents = std::make_shared<OpenApiDocuments>();
  std::vector<GroupVersionName> served;
  std::string list = "{\"paths\":{";
  for (const wire::DiscoveryGroup& group : groups) {
    for (const wire::DiscoveryVersion& version : group.versions) {
      served.push_back({group.name, version.version});
      const std::string path = absl::StrCat("apis/", group.name, "/", version.version);
      const Document& document = documents->v3[path] =
          MakeDocument(OpenApiV3Json(served.back()), forms);
      wire::AppendKey(path, &list);
      absl::StrAppend(&list, "{\"serverRelativeURL\":\"/openapi/v3/", path, "?hash=", document.hash,
                      "\"}");
    }
  }
  documents->v3_list = MakeDocument(list + "}}", forms);
  documents->v2 = MakeDocument(OpenApiV2Json(served), forms);
  return documents;
}

std::shared_ptr<const DiscoverySet> Make(DiscoverySet set, const DiscoverySet* last,
                                         const std::vector<std::string>& fixed_paths,
                                         DocumentForms::Shared& forms) {
  if (set.custom != nullptr) {
    const auto resources = CustomResources(*set.custom);
    set.groups.push_back(
        {std::string(kCustomGroup), {{"v1beta2", resources}, {"v1beta1", resources}}});
  }
  if (set.external != nullptr) {
    set.groups.push_back(
        {std::string(kExternalGroup), {{"v1beta1", ExternalResources(*set.external)}}});
  }
  if (set.resource) {
    const std::vector<wire::ApiResource> resources = {
        {"nodes", false, "NodeMetrics", {"get", "list"}},
        {"pods", true, "PodMetrics", {"get", "list"}}};
    set.groups.push_back(
        {std::string(kResourceGroup), {{"v1", resources}, {"v1beta1", resources}}});
  }
  set.paths = fixed_paths;
  set.paths.push_back("/apis");
  for (const wire::DiscoveryGroup& group : set.groups) {
    set.paths.push_back(absl::StrCat("/apis/", group.name));
    for (const wire::DiscoveryVersion& version : group.versions) {
      const std::string name = absl::StrCat(group.name, "/", version.version);
      set.paths.push_back(absl::StrCat("/apis/", name));
      set.lists[name] = MakeDocument(wire::ApiResourceListJson(name, version.resources), forms);
    }
  }
  std::sort(set.paths.begin(), set.paths.end());
  const bool same_groups = last != nullptr && last->paths == set.paths;
  set.openapi = same_groups ? last->openapi : MakeOpenApi(set.groups, forms);
  set.group_list = MakeDocument(wire::ApiGroupListJson(set.groups, set.address), forms);
  set.aggregated_v2 = MakeDocument(wire::ApiGroupDiscoveryListJson("v2", set.groups), forms);
  set.aggregated_v2beta1 =
      MakeDocument(wire::ApiGroupDiscoveryListJson("v2beta1", set.groups), forms);
  return std::make_shared<const DiscoverySet>(std::move(set));
}

}  // namespace

const wire::DiscoveryGroup* DiscoverySet::FindGroup(absl::string_view group) const {
  for (const wire::DiscoveryGroup& candidate : groups) {
    if (candidate.name == group) return &candidate;
  }
  return nullptr;
}

DiscoveryDocs::DiscoveryDocs(std::vector<std::string> fixed_paths, std::function<int()> port)
    : fixed_paths_(std::move(fixed_paths)), port_(std::move(port)) {}

std::shared_ptr<const DiscoverySet> DiscoveryDocs::Get(const adapter::Providers& providers) {
  DiscoverySet wanted;
  if (providers.custom != nullptr) wanted.custom = providers.custom->ListAll();
  if (providers.external != nullptr) wanted.external = providers.external->ListAll();
  wanted.resource = providers.resource != nullptr;
  const auto is_wanted = [&wanted](const DiscoverySet* set) {
    return set != nullptr && set->custom == wanted.custom && set->external == wanted.external &&
           set->resource == wanted.resource;
  };
  std::shared_ptr<const DiscoverySet> last = last_.Get();
  if (is_wanted(last.get())) return last;
  // One request makes it, since it may take megabytes, and the others wait.
  const http::EventWorkers::Waiting waiting;
  const absl::MutexLock lock(&renewing_);
  last = last_.Get();
  if (is_wanted(last.get())) return last;
  // Without a host: the original is not told by which address it is reached.
  wanted.address = absl::StrCat(":", port_());
  last = Make(std::move(wanted), last.get(), fixed_paths_, forms_);
  last_.Set(last);
  return last;
}

}  // namespace flyball::apiservice
