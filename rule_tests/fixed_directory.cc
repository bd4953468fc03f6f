#include "rule_tests/fixed_directory.h"

#include <set>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "kube/objects/builtin_resources.h"

namespace flyball::rule_tests {

namespace {

using KindKey = std::pair<std::string, std::string>;  // group, kind

std::vector<kube::ResourceInfo> ResourcesOf(const std::vector<kube::ManifestObject>& objects) {
  std::vector<kube::ResourceInfo> resources = kube::BuiltinResources();
  std::set<KindKey> known;
  for (const kube::ResourceInfo& info : resources) known.emplace(info.name.group, info.kind);
  for (const kube::ManifestObject& object : objects) {
    if (object.defines && known.emplace(object.defines->name.group, object.defines->kind).second) {
      resources.push_back(*object.defines);
    }
  }
  for (const kube::ManifestObject& object : objects) {
    if (!known.emplace(object.group, object.kind).second) continue;
    kube::ResourceInfo info;
    info.name = {object.group, kube::GuessPlural(object.kind)};
    info.version = object.version;
    info.kind = object.kind;
    info.singular = absl::AsciiStrToLower(object.kind);
    info.namespaced = !object.meta.ns.empty();
    resources.push_back(std::move(info));
  }
  return resources;
}

}  // namespace

FixedDirectory::FixedDirectory(const std::vector<kube::ManifestObject>& objects)
    : mapper_(std::make_shared<const kube::RestMapper>(ResourcesOf(objects))) {
  struct Lists {
    std::vector<kube::ObjectPtr> all, running;
  };
  std::map<kube::GroupResource, Lists> lists;
  std::map<KindKey, const kube::ResourceInfo*> by_kind;
  for (const kube::ResourceInfo& info : mapper_->resources()) {
    lists[info.name];
    by_kind.emplace(KindKey(info.name.group, info.kind), &info);
  }
  for (const kube::ManifestObject& object : objects) {
    const kube::ResourceInfo& info = *by_kind.at({object.group, object.kind});
    kube::ObjectMeta meta = object.meta;
    if (!info.namespaced) meta.ns.clear();
    if (info.namespaced && meta.ns.empty()) meta.ns = "default";
    auto shared = std::make_shared<const kube::ObjectMeta>(std::move(meta));
    if (object.running) lists[info.name].running.push_back(shared);
    lists[info.name].all.push_back(std::move(shared));
  }
  for (auto& [resource, list] : lists) {
    tables_[resource] = {kube::ObjectTable(std::move(list.all)),
                         kube::ObjectTable(std::move(list.running))};
  }
}

const FixedDirectory::Tables* FixedDirectory::Find(const kube::GroupResource& resource) const {
  const auto at = tables_.find(resource);
  return at == tables_.end() ? nullptr : &at->second;
}

absl::StatusOr<std::vector<kube::ObjectPtr>> FixedDirectory::List(const kube::ObjectQuery& query) {
  const Tables* tables = Find(query.resource);
  if (tables == nullptr) {
    return absl::NotFoundError(absl::StrCat("unknown resource ", query.resource.ToString()));
  }
  const kube::ObjectTable& table = query.running_only ? tables->running : tables->all;
  return table.Select(query.ns, query.selector);
}

absl::StatusOr<kube::ObjectPtr> FixedDirectory::Get(const kube::GroupResource& resource,
                                                    absl::string_view ns, absl::string_view name,
                                                    bool running_only) {
  const Tables* tables = Find(resource);
  if (tables == nullptr) {
    return absl::NotFoundError(absl::StrCat("unknown resource ", resource.ToString()));
  }
  return (running_only ? tables->running : tables->all).Find(ns, name);
}

}  // namespace flyball::rule_tests
