// The scale and the pods of an autoscaler, out of the files given to `decide -f`.
//
// Pure. The pods are found as the loop finds them (stores/pod_index.h): by the selector of the
// scale, or of these only the ones that the target owns; and so are the rivals, who are of the same
// kind.
#pragma once

#include "scaler/explain/given_case.h"
#include "scaler/explain/snapshot.h"
#include "scaler/math/input.h"

namespace flyball::scaler {

// An autoscaler and how its pods are found.
struct PodSelection {
  const Autoscaler* autoscaler = nullptr;  // as it stands in the snapshot
  bool owned_only = false;
};

PodSelection SelectionOf(const Autoscaler& hpa);
PodSelection SelectionOf(const GivenOwnAutoscaler& given);

// Sets the scale of out.autoscaler, and where it is from. Where the workload is not in the files
// the autoscaler's status stands in, with a note.
void TakeScale(const ClusterSnapshot& snapshot, GivenCase& out);

// Sets `answer` and out.table, which it points to, from out.autoscaler and out.scale.
void TakePods(const ClusterSnapshot& snapshot, const PodSelection& selection, bool own_kind,
              const MathConfig& config, GivenCase& out, PodsAnswer& answer);

}  // namespace flyball::scaler
