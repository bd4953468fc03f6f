// The resources that every cluster has, for when there is no cluster to ask.
//
// Pure. In the discovery order of Kubernetes v1.34.4.
#pragma once

#include <vector>

#include "kube/objects/rest_mapping.h"

namespace flyball::kube {

std::vector<ResourceInfo> BuiltinResources();

}  // namespace flyball::kube
