// The resources that every cluster has, for use without a cluster.
//
// Pure. In the discovery order of Kubernetes v1.34.4.
#pragma once

#include <vector>

#include "kube/objects/rest_mapping.h"

namespace flyball::kube {

std::vector<ResourceInfo> BuiltinResources();

}  // namespace flyball::kube
