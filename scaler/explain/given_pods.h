// The scale and the pods of an autoscaler, from the files that `decide -f` was given.
//
// Pure. Pods and rivals are found by the index that the loop uses (stores/pod_index.h), so that the
// pods are sorted by name: pods by the selector of the scale, or only those of them that the target
// owns; rivals among autoscalers of the same kind.
#pragma once

#include "scaler/explain/given_case.h"
#include "scaler/explain/snapshot.h"
#include "scaler/math/input.h"

namespace flyball::scaler {

// An autoscaler and how its pods are found.
struct PodSelection {
  const Autoscaler* autoscaler = nullptr;  // the snapshot's
  bool owned_only = false;
};

PodSelection SelectionOf(const Autoscaler& hpa);
PodSelection SelectionOf(const GivenOwnAutoscaler& given);

// Sets the scale of out.autoscaler and where it comes from. If the workload is not in the files,
// the scale comes from the autoscaler's status, and a note says so.
void TakeScale(const ClusterSnapshot& snapshot, GivenCase& out);

// Sets `answer` and out.table, which it points to, from out.autoscaler and out.scale.
void TakePods(const ClusterSnapshot& snapshot, const PodSelection& selection, bool own_kind,
              const MathConfig& config, GivenCase& out, PodsAnswer& answer);

}  // namespace flyball::scaler
