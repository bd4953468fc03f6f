// The guard `pendingCapacity: true` of our own kind: pods that were asked for and do not serve yet
// count as capacity, so that one load is not answered several times while a model loads.
//
// Pure. A count that a reading asks for stands as it is, but it does not grow the target beyond its
// current replicas while
//
//     loading + settling > 0   and   now - growing_since >= kAskWindow
//
//   loading   pods that were asked for and have never been ready: current replicas without a pod,
//             and pods that start. A pod that was ready before is no pending capacity: overload
//             may be why it is not, and that must not stop growth.
//   settling  ready pods that have been ready for less time than they took to become so. While they
//             loaded a queue piled up, which says nothing of the capacity that is there now; they
//             are given as long to take it off as it took to pile up.
//
// A pod that loads for longer than kLongestLoad is taken for one that never will, and counts no
// more: one broken pod must not hold a target for good.
//
// The window: a reading that grows step by step, as a queue that is looked at several times a
// second does, asks for a load's pods in several steps. What is asked for within kAskWindow of the
// first step is one answer to one load, as it is to a controller with the HPA's sync period.
//
// Why growth is held rather than the readings changed: totals over a target (AverageValue) already
// ask for a count that pending pods belong to, and formulas over pods multiply by those that are
// ready or count the others as idle. What makes a load be answered twice is the backlog that grows
// for as long as the pods load, and nothing but time tells it from more load.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "scaler/math/decision.h"
#include "scaler/math/input.h"

namespace flyball::scaler {

inline constexpr absl::Duration kAskWindow = absl::Seconds(15);
inline constexpr absl::Duration kLongestLoad = absl::Minutes(10);

// What growth has to wait for, and what that makes of a recommendation; absent: it need not wait.
// Keeps `state.growing_since`, which is unknown after a restart: then a window in which pods are
// pending counts as over.
std::optional<PendingHold> GrowthWaitsFor(const DecisionInput& input, int32_t recommended,
                                          ScalerState& state);

}  // namespace flyball::scaler
