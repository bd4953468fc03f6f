// The resources of a cluster, with kind, resource and singular name, as one immutable table.
//
// Pure, immutable after it is built. Lookups are case-insensitive on plural or singular. Source of
// the rules: prometheus-adapter 0.12.0 through k8s.io/client-go restmapper (first group in
// discovery order wins; a group that is not exact matches every group that starts with it; a kind
// is registered a second time in lower case).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace flyball::kube {

struct GroupResource {
  std::string group;     // "" is core
  std::string resource;  // plural, lower case

  friend bool operator==(const GroupResource&, const GroupResource&) = default;
  friend auto operator<=>(const GroupResource&, const GroupResource&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const GroupResource& r) {
    return H::combine(std::move(h), r.group, r.resource);
  }
  // "pods", "deployments.apps".
  std::string ToString() const { return group.empty() ? resource : resource + "." + group; }
};

struct ResourceInfo {
  GroupResource name;
  std::string version;   // the preferred version of its group: "v1"
  std::string kind;      // "Pod"
  std::string singular;  // "pod"; guessed from the kind where discovery leaves it blank
  bool namespaced = true;
  bool listable = true;  // discovery gives the verb
  bool watchable = true;
  bool scalable = true;  // it has the subresource scale

  friend bool operator==(const ResourceInfo&, const ResourceInfo&) = default;
};

// Whether `written` refers to the kind: unchanged, or all in lower case.
bool NamesKind(absl::string_view written, absl::string_view kind);

class RestMapper {
 public:
  // In discovery order: preferred version of each group first.
  explicit RestMapper(std::vector<ResourceInfo> resources);

  // By plural or singular, any case. `group` "" finds any group, first in discovery order;
  // otherwise the exact group, else the first that starts with it. nullptr: unknown.
  const ResourceInfo* Find(absl::string_view group, absl::string_view resource) const;
  // `resource[.group]` as in a URL, cut at the first dot.
  const ResourceInfo* FindQualified(absl::string_view resource_dot_group) const;
  // Exactly this resource, as named by a mapper; nullptr: unknown.
  const ResourceInfo* FindExact(const GroupResource& name) const;
  // By kind within a group, as NamesKind compares; nullptr: unknown.
  const ResourceInfo* FindKind(absl::string_view group, absl::string_view kind) const;

  const std::vector<ResourceInfo>& resources() const { return resources_; }

 private:
  std::vector<ResourceInfo> resources_;
  // Lower-cased plural and singular -> indices in discovery order.
  absl::flat_hash_map<std::string, std::vector<size_t>> by_name_;
};

}  // namespace flyball::kube
