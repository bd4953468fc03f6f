// A small cluster's resource names, for tests.
//
// Immutable; thread-safe. Follows the rules of kube/objects/rest_mapping.h: any case, plural or
// singular; no group means the first resource of the name; a group that is not exact matches by
// prefix.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "rules/compiled_rules.h"

namespace flyball::rules {

class FakeResourceNames final : public ResourceNames {
 public:
  std::optional<GroupResource> Normalize(absl::string_view group,
                                         absl::string_view resource) const override {
    const std::string name = absl::AsciiStrToLower(resource);
    for (const bool prefix : {false, true}) {
      for (const Entry& entry : entries_) {
        if (name != entry.name.resource && name != entry.singular) continue;
        if (group.empty() || entry.name.group == group ||
            (prefix && absl::StartsWith(entry.name.group, group))) {
          return entry.name;
        }
      }
    }
    return std::nullopt;
  }

  std::string Singular(const GroupResource& resource) const override {
    for (const Entry& entry : entries_) {
      if (entry.name == resource) return entry.singular;
    }
    return resource.resource;
  }

 private:
  struct Entry {
    GroupResource name;
    std::string singular;
  };
  const std::vector<Entry> entries_ = {
      {{"", "pods"}, "pod"},
      {{"", "services"}, "service"},
      {{"", "namespaces"}, "namespace"},
      {{"", "nodes"}, "node"},
      {{"apps", "deployments"}, "deployment"},
      {{"batch", "jobs"}, "job"},
      {{"networking.k8s.io", "ingresses"}, "ingress"},
      {{"storage.k8s.io", "storageclasses"}, "storageclass"},
      {{"cheese.example", "farms"}, "farm"},
  };
};

}  // namespace flyball::rules
