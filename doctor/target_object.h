// Checks the target's own object and its pods: who else writes spec.replicas, why a count is not
// reached, and which pods the selector matches although the target does not own them.
//
// Pure, except for the look (autoscaler_look.cc), which only reads. What it may not read is left
// out, since other checks report missing rights. The readers return kInvalidArgument for bytes that
// are no object.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "doctor/finding.h"

namespace flyball::doctor {

// A manager of spec.replicas in metadata.managedFields other than the autoscaler.
struct ReplicasManager {
  std::string name;    // "argocd-controller"
  bool apply = false;  // by server-side apply: it sets the field again each time it applies
  absl::Time time = absl::InfinitePast();
};

struct TargetObject {
  std::string uid;
  std::vector<ReplicasManager> managers;
  // Why it can't create its pods, for example because a quota is used up. From the condition
  // ReplicaFailure or, for kinds without it (StatefulSets), from the newest event FailedCreate. "":
  // there is neither.
  std::string replica_failure;
};
absl::StatusOr<TargetObject> ReadTargetObject(absl::string_view json);

// The message of the newest event FailedCreate in a list of events; "" if there is none.
absl::StatusOr<std::string> ReadFailedCreate(absl::string_view json);

// A pod that the selector matches.
struct PodOrigin {
  std::string name;
  std::string controller_uid;  // "": it has no controller
  std::string unschedulable;   // why no node takes it; "": it has a node
};
absl::StatusOr<PodOrigin> ReadPodOrigin(absl::string_view json);

struct TargetFacts {
  std::string ns, kind, name;
  std::string selector;
  int desired = 0;                     // spec.replicas of the scale
  std::optional<TargetObject> object;  // absent: not read
  std::vector<PodOrigin> pods;
  // The uids of the controllers of the target's pods: the target itself, or the ReplicaSets of a
  // Deployment. Empty: not known for targets of that kind.
  std::vector<std::string> controllers;
  std::optional<absl::Time> last_scaled;  // by its autoscaler
};

Findings CheckTargetObject(const TargetFacts& facts);

}  // namespace flyball::doctor
