// The resources of a small cluster, for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kube/objects/rest_mapping.h"

namespace flyball::rules {

inline const kube::RestMapper& TestResources() {
  static const auto& mapper = *new kube::RestMapper([] {
    const std::vector<std::pair<kube::GroupResource, std::string>> names = {
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
    std::vector<kube::ResourceInfo> resources;
    for (const auto& [name, singular] : names) {
      kube::ResourceInfo& info = resources.emplace_back();
      info.name = name;
      info.singular = singular;
    }
    return resources;
  }());
  return mapper;
}

}  // namespace flyball::rules
