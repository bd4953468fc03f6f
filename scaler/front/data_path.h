// The interface between the front, which decides, and the transport, which speaks with Envoys.
//
// Times are arguments: `now` is a time that never jumps, absl::UnixEpoch() plus the monotonic time
// of the clock, so that a change of the wall clock does not end a wait.
//
// Threads: both sides may be called from any thread. No call waits. The front holds no lock of its
// own while it calls the transport, and makes its calls in order, one at a time. While the
// transport calls the front, it must not hold a lock that these calls take.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "scaler/front/refusal.h"
#include "scaler/front/resources.h"

namespace flyball::front {

using NodeId = std::string;  // names an Envoy: the name of its pod
using RequestId = uint64_t;  // given by the transport, never twice in a process

// The calls that the front makes to the transport.
class DataPath {
 public:
  virtual ~DataPath() = default;

  // Sets the newest version of a resource, which replaces an older one that was not sent yet. What
  // an Envoy lacks of a service is sent on its one stream: routes with the gate on first, the rest
  // in the order of ResourceKind. So the gate is on before endpoints go, and off after they came,
  // even if a new stream begins or versions were skipped. Versions grow, also across restarts, so
  // that a version that an Envoy has from an earlier process equals none of ours.
  virtual void Put(Resource resource, uint64_t version) = 0;
  virtual void Remove(ResourceKind kind, const std::string& service) = 0;

  // Nothing is sent on any stream before this was called, once. Of the services in `kept` nothing
  // is known yet, but they exist: an Envoy keeps the cluster and the listener that it has of them
  // from an earlier process, until Put or Remove.
  virtual void BeginServing(const std::vector<std::string>& kept) = 0;

  // Lets the request go on; with a hard limit to this pod ("10.0.0.7:8080"). Each request is
  // released or refused once, or neither if it ended before. A call for a request that has already
  // ended is ignored.
  virtual void Release(RequestId id, std::optional<std::string> pod) = 0;
  virtual void Refuse(RequestId id, const Refusal& refusal) = 0;
};

// The load of one service at one Envoy, as its metrics sink reports it.
struct ServiceLoad {
  std::string service;
  double active = 0;           // requests at its own listener, including those that are held
  double begun = 0;            // how many of those began since the last report
  double upstream_active = 0;  // requests at pods
  double upstream_pending = 0;
  double upstream_begun = 0;  // since the last report; a retry counts again
};

// What the transport reports to the front. The calls for one Envoy come in the order of events.
class DataPathEvents {
 public:
  virtual ~DataPathEvents() = default;

  // An Envoy's stream of resources begins. `returning`: it has resources from an earlier stream or
  // process, so it may have requests at pods that we do not know of. OnAck follows for each
  // resource that it has in its newest version. A second call without OnEnvoyGone means that a
  // newer stream of the same Envoy replaces the earlier one, whose end is then not reported.
  virtual void OnEnvoy(const NodeId& node, bool returning, absl::Time now) = 0;
  virtual void OnEnvoyGone(const NodeId& node, absl::Time now) = 0;

  // The Envoy has this version. Earlier versions that it was not sent are not reported.
  virtual void OnAck(const NodeId& node, ResourceKind kind, const std::string& service,
                     uint64_t version, absl::Time now) = 0;
  // The Envoy refused a message and keeps what it had. `services`: those with resources in it.
  virtual void OnNack(const NodeId& node, ResourceKind kind,
                      const std::vector<std::string>& services, absl::string_view text,
                      absl::Time now) = 0;

  // A gated request has arrived. It is answered by Release or Refuse, perhaps before this returns.
  virtual void OnRequest(RequestId id, const NodeId& node, const std::string& service,
                         absl::Time now) = 0;
  // The client left before the answer, or a request that was released to a pod under a hard limit
  // has ended. Not called for other requests, nor for those that were refused.
  virtual void OnRequestEnd(RequestId id, absl::Time now) = 0;

  // One report of an Envoy's metrics. Services that the report does not name have no requests
  // there.
  virtual void OnLoad(const NodeId& node, absl::Span<const ServiceLoad> services,
                      absl::Time now) = 0;
};

}  // namespace flyball::front
