// Whose a pod is, told as pairs beside its labels, so that the pods that a workload owns are
// selected as those with a label are. No label has such a key: it begins with `@`.
//
// Pure. A pod is its controller's; where that is a ReplicaSet named after the hash in the pod's
// labels, it is also the Deployment's (or Rollout's) that names its ReplicaSets so. Other owners of
// owners are not looked for.
// Source:  Kubernetes v1.37.1 pkg/controller/deployment/sync.go (getNewReplicaSet), the name;
//          KEP-5325, the idea.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "kube/objects/selector.h"
#include "scaler/inputs/pod_json.h"

namespace flyball::scaler {

void AddOwners(const PodController& controller, kube::Labels& labels);
void RemoveOwners(kube::Labels& labels);

// The pods of `selector` that are that workload's, and the text that tells it from the selector
// alone.
kube::Selector OwnedBy(absl::string_view kind, absl::string_view name,
                       const kube::Selector& selector);
std::string OwnedByText(absl::string_view kind, absl::string_view name, absl::string_view text);
bool IsOwnedByText(absl::string_view text);

}  // namespace flyball::scaler
