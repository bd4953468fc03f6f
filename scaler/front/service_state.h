// The states of a service and the transitions between them.
//
// Pure: a table. The state is kept in memory only; after a start it follows from pods and scale.
//
//   state       gate                 endpoints  meanwhile
//   zero        on                   none       no requests are waiting
//   activating  on                   none       a scale is written, pods are probed
//   opening     on                   pods       an Envoy's requests go once it has the endpoints
//   open        off (hard limit: on) pods
//   closing     on                   pods       zero is decided; waits until nothing is in flight
//   failing     on                   none       held requests got an error, as new ones do for a
//                                               while
#pragma once

namespace flyball::front {

enum class ServiceState { kZero, kActivating, kOpening, kOpen, kClosing, kFailing };

// The facts about a service that decide its next state.
struct ServiceFacts {
  bool has_pod = false;       // one that takes requests
  bool has_no_pod = true;     // the opposite
  bool wanted = false;        // requests are held, or the decided count or minimum is above zero
  bool opened = false;        // every Envoy has the endpoints, or has had a second for it
  bool refused = false;       // the scale was
  bool may_close = false;     // zero is decided, and nothing is held
  bool backed_off = false;    // enough time has passed since the failure
  bool zero_entered = false;  // a scale of zero is being written
};

// The next state; the same one if nothing changes. The caller calls it again with the facts of the
// new state until it stays the same.
ServiceState NextState(ServiceState state, const ServiceFacts& facts);

// Whether pods take requests in this state, from Envoys that know the pods.
inline bool Serves(ServiceState state) {
  return state == ServiceState::kOpening || state == ServiceState::kOpen ||
         state == ServiceState::kClosing;
}

// Whether pods are probed in this state.
inline bool Probes(ServiceState state) {
  return state == ServiceState::kActivating || state == ServiceState::kFailing;
}

}  // namespace flyball::front
