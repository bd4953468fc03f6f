#include "kube/objects/rest_mapping.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace flyball::kube {

bool NamesKind(absl::string_view written, absl::string_view kind) {
  return written == kind || written == absl::AsciiStrToLower(kind);
}

RestMapper::RestMapper(std::vector<ResourceInfo> resources) : resources_(std::move(resources)) {
  for (size_t i = 0; i < resources_.size(); ++i) {
    ResourceInfo& info = resources_[i];
    if (info.singular.empty()) info.singular = absl::AsciiStrToLower(info.kind);
    const std::string plural = absl::AsciiStrToLower(info.name.resource);
    const std::string singular = absl::AsciiStrToLower(info.singular);
    by_name_[plural].push_back(i);
    if (singular != plural) by_name_[singular].push_back(i);
  }
}

const ResourceInfo* RestMapper::Find(absl::string_view group, absl::string_view resource) const {
  const auto found = by_name_.find(absl::AsciiStrToLower(resource));
  if (found == by_name_.end()) return nullptr;
  const std::vector<size_t>& candidates = found->second;
  if (group.empty()) return &resources_[candidates.front()];
  const ResourceInfo* by_prefix = nullptr;
  for (const size_t i : candidates) {
    const ResourceInfo& info = resources_[i];
    if (info.name.group == group) return &info;
    if (by_prefix == nullptr && absl::StartsWith(info.name.group, group)) by_prefix = &info;
  }
  return by_prefix;
}

const ResourceInfo* RestMapper::FindQualified(absl::string_view resource_dot_group) const {
  const size_t dot = resource_dot_group.find('.');
  if (dot == absl::string_view::npos) return Find("", resource_dot_group);
  return Find(resource_dot_group.substr(dot + 1), resource_dot_group.substr(0, dot));
}

const ResourceInfo* RestMapper::FindExact(const GroupResource& name) const {
  const auto found = by_name_.find(name.resource);
  if (found == by_name_.end()) return nullptr;
  for (const size_t i : found->second) {
    if (resources_[i].name == name) return &resources_[i];
  }
  return nullptr;
}

const ResourceInfo* RestMapper::FindKind(absl::string_view group, absl::string_view kind) const {
  for (const ResourceInfo& info : resources_) {
    if (info.name.group == group && NamesKind(kind, info.kind)) return &info;
  }
  return nullptr;
}

}  // namespace flyball::kube
