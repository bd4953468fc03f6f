// What the target's own object and its pods tell beside the scale: who else writes spec.replicas,
// why a count is not reached, and which pods the selector catches that are not the target's.
//
// Pure, but for the look (autoscaler_look.cc), which only reads; what it may not read is left
// out, since the rest of the chain says what is missing. The readers return kInvalidArgument for
// bytes that are no object.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "doctor/finding.h"

namespace flyball::doctor {

// Who owns spec.replicas by metadata.managedFields, but not through the scale subresource.
struct ReplicasManager {
  std::string name;    // "argocd-controller"
  bool apply = false;  // by server-side apply: it sets the field again each time it applies
  absl::Time time = absl::InfinitePast();
};

struct TargetObject {
  std::string uid;
  std::vector<ReplicasManager> managers;
  // Why it can't make its pods, as where a quota is used up: of the condition ReplicaFailure, or,
  // of kinds that have none (StatefulSets), of its newest event of that. "": nothing tells.
  std::string replica_failure;
};
absl::StatusOr<TargetObject> ReadTargetObject(absl::string_view json);

// The message of the newest event FailedCreate in a list of events; "": there is none.
absl::StatusOr<std::string> ReadFailedCreate(absl::string_view json);

// A pod of the selector.
struct PodOrigin {
  std::string name;
  std::string controller_kind, controller_uid;  // "": nobody controls it
  std::string unschedulable;                    // why no node takes it; "": one does
};
absl::StatusOr<PodOrigin> ReadPodOrigin(absl::string_view json);

struct TargetFacts {
  std::string ns, kind, name;
  std::string selector;
  int desired = 0;                     // replicas of the scale
  std::optional<TargetObject> object;  // absent: not read
  std::vector<PodOrigin> pods;
  // The uids of those that control the target's pods: itself, or the ReplicaSets of a Deployment.
  // Empty: not known for targets of that kind.
  std::vector<std::string> controllers;
  std::optional<absl::Time> last_scaled;  // by its autoscaler
};

Findings CheckTargetObject(const TargetFacts& facts);

}  // namespace flyball::doctor
