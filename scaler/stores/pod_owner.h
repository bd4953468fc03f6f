// Adds the owners of a pod to its labels as further pairs, so that the pods of a workload can be
// selected as if by a label. Their keys begin with `@`, which no label's key does, and contain the
// kind in lower case, since a reference to a target may have it so.
//
// Pure. The owner of a pod is its controller. If that is a ReplicaSet whose name ends in the hash
// in the pod's labels, then the Deployment (or Rollout) that names its ReplicaSets in this way is
// an owner as well. Other owners of owners are not looked up.
// Source:  Kubernetes v1.37.1 pkg/controller/deployment/sync.go (getNewReplicaSet) for the name;
//          KEP-5325 for the idea.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "kube/objects/selector.h"
#include "scaler/inputs/pod_json.h"

namespace flyball::scaler {

void AddOwners(const PodController& controller, kube::Labels& labels);
void RemoveOwners(kube::Labels& labels);

// A selector of those pods of `selector` that the workload owns, and its text, which differs from
// that of `selector` alone.
kube::Selector OwnedBy(absl::string_view kind, absl::string_view name,
                       const kube::Selector& selector);
std::string OwnedByText(absl::string_view kind, absl::string_view name, absl::string_view text);
bool IsOwnedByText(absl::string_view text);

}  // namespace flyball::scaler
