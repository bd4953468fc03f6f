// The guard `pendingCapacity: true` of an Autoscaler (CRD): pods that were asked for and do not
// serve yet count as capacity, so that pods are not asked for again and again because of the same
// load while a model loads.
//
// Pure. The count that a reading asks for is kept, but it does not grow the target beyond its
// current replicas while
//
//     loading + settling > 0   and   now - growing_since >= kAskWindow
//
//   loading   pods that were asked for and have never been ready: current replicas without a pod,
//             and pods that are starting. A pod that was ready before is not pending capacity:
//             overload may be why it is not ready now, and that must not stop growth.
//   settling  ready pods that have been ready for less time than they took to become so. While they
//             loaded, a queue piled up, which says nothing about the present capacity; they are
//             given as long to work it off as it took to pile up.
//
// A pod that has been loading for longer than kLongestLoad does not count any more: it may never
// become ready, and one broken pod must not stop growth for good.
//
// The window: a reading that grows step by step, like a queue that is read several times a second,
// asks for the pods of one load in several steps. All that is asked for within kAskWindow of the
// first step counts as the answer to one load, as in a controller with the HPA's sync period.
//
// Why growth is held rather than the readings changed: totals over a target (AverageValue) already
// ask for a count that includes pending pods, and formulas over pods multiply by the ready ones or
// count the others as idle. What would make one load be answered twice is the backlog that grows
// while the pods load, and only time distinguishes that from more load.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "scaler/math/decision.h"
#include "scaler/math/input.h"

namespace flyball::scaler {

inline constexpr absl::Duration kAskWindow = absl::Seconds(15);
inline constexpr absl::Duration kLongestLoad = absl::Minutes(10);

// What growth has to wait for, and how that limits the recommendation; absent: it need not wait.
// Updates `state.growing_since`. After a restart that is unknown: then, if pods are pending, the
// window counts as over.
std::optional<PendingHold> GrowthWaitsFor(const DecisionInput& input, int32_t recommended,
                                          ScalerState& state);

}  // namespace flyball::scaler
