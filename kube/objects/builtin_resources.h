// The resources that every cluster has, for when there is no cluster to ask, and others that are
// known without asking.
//
// Pure. In the discovery order of Kubernetes v1.34.4.
#pragma once

#include <vector>

#include "absl/strings/string_view.h"
#include "kube/objects/rest_mapping.h"

namespace flyball::kube {

std::vector<ResourceInfo> BuiltinResources();

// A resource that needs no discovery, as one that is namespaced.
ResourceInfo ResourceNamed(absl::string_view group, absl::string_view version,
                           absl::string_view resource, absl::string_view kind);

}  // namespace flyball::kube
