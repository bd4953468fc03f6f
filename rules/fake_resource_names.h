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
      for (const NamedResource& named : resources_) {
        if (name != named.name.resource && name != named.singular) continue;
        if (group.empty() || named.name.group == group ||
            (prefix && absl::StartsWith(named.name.group, group))) {
          return named.name;
        }
      }
    }
    return std::nullopt;
  }

  std::string Singular(const GroupResource& resource) const override {
    for (const NamedResource& named : resources_) {
      if (named.name == resource) return named.singular;
    }
    return resource.resource;
  }

 private:
  struct NamedResource {
    GroupResource name;
    std::string singular;
  };
  const std::vector<NamedResource> resources_ = {
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
