#include "kube/objects/manifest_objects.h"

#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "kube/objects/builtin_resources.h"

namespace flyball::kube {
namespace {

using KindKey = std::pair<std::string, std::string>;  // group, kind

// The built-in resources, and those that the objects define or need.
std::vector<ResourceInfo> ResourcesOf(const std::vector<const ManifestObject*>& objects) {
  std::vector<ResourceInfo> resources = BuiltinResources();
  std::set<KindKey> known;
  for (const ResourceInfo& info : resources) known.emplace(info.name.group, info.kind);
  for (const ManifestObject* object : objects) {
    const auto& defines = object->defines;
    if (defines && known.emplace(defines->name.group, defines->kind).second) {
      resources.push_back(*defines);
    }
  }
  for (const ManifestObject* object : objects) {
    if (!known.emplace(object->group, object->kind).second) continue;
    ResourceInfo info;
    info.name = {object->group, GuessPlural(object->kind)};
    info.version = object->version;
    info.kind = object->kind;
    info.namespaced = !object->meta.ns.empty();
    resources.push_back(std::move(info));
  }
  return resources;
}

}  // namespace

ManifestObjects::ManifestObjects(const std::vector<const ManifestObject*>& objects)
    : mapper_(std::make_shared<const RestMapper>(ResourcesOf(objects))) {
  std::map<KindKey, const ResourceInfo*> by_kind;
  for (const ResourceInfo& info : mapper_->resources()) {
    by_kind.emplace(KindKey(info.name.group, info.kind), &info);
  }
  std::map<GroupResource, std::pair<std::vector<ObjectPtr>, std::vector<ObjectPtr>>> lists;
  for (const ManifestObject* object : objects) {
    const ResourceInfo& info = *by_kind.at({object->group, object->kind});
    ObjectMeta meta = object->meta;
    if (!info.namespaced) meta.ns.clear();
    if (info.namespaced && meta.ns.empty()) meta.ns = "default";
    auto& [all, running] = lists[info.name];
    all.push_back(std::make_shared<const ObjectMeta>(std::move(meta)));
    if (object->running) running.push_back(all.back());
  }
  for (auto& [name, list] : lists) {
    tables_.emplace(
        name, std::pair(ObjectTable(std::move(list.first)), ObjectTable(std::move(list.second))));
  }
}

absl::StatusOr<const ObjectTable*> ManifestObjects::TableFor(const GroupResource& resource,
                                                             bool running_only) const {
  static const ObjectTable empty;
  if (mapper_->FindExact(resource) == nullptr) {
    return absl::NotFoundError(absl::StrCat("no resource ", resource.ToString()));
  }
  const auto tables = tables_.find(resource);
  if (tables == tables_.end()) return &empty;
  const bool running = running_only && resource == GroupResource{"", "pods"};
  return running ? &tables->second.second : &tables->second.first;
}

}  // namespace flyball::kube
