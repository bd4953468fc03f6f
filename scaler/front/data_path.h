// The seam between the front, which decides, and the transport, which speaks with Envoys.
//
// Times are arguments: `now` is a time that never jumps, absl::UnixEpoch() plus the monotonic time
// of the clock, so that a change of the wall clock ends nobody's wait.
//
// Threads: both sides may be called from any thread. No call waits. The front holds no lock of its
// own while it calls the transport, and makes its calls in one order, one at a time; the transport
// must hold no lock of its own that these calls take while it calls the front.
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

using NodeId = std::string;  // of an Envoy: the name of its pod
using RequestId = uint64_t;  // given by the transport, never twice in a process

// What the front asks of the transport.
class DataPath {
 public:
  virtual ~DataPath() = default;

  // The newest version of a resource, which takes the place of an older one that was not sent yet.
  // What one Envoy has not been sent of a service is sent by SendRank, on its one stream: so the
  // gate is on before endpoints go, and off after they came, also where a new stream begins or
  // versions were skipped. Versions grow, also over restarts, so that one that an Envoy has from an
  // earlier process equals none of ours.
  virtual void Put(Resource resource, uint64_t version) = 0;
  virtual void Remove(ResourceKind kind, const std::string& service) = 0;

  // Nothing is sent on any stream before this was called, once.
  virtual void BeginServing() = 0;

  // The request goes on; with a hard limit to this pod ("10.0.0.7:8080"). Each request is released
  // or refused once, or neither if it ended before. One that has ended meanwhile is ignored.
  virtual void Release(RequestId id, std::optional<std::string> pod) = 0;
  virtual void Refuse(RequestId id, const Refusal& refusal) = 0;
};

// Of one service at one Envoy, as its metrics sink tells.
struct ServiceLoad {
  std::string service;
  double active = 0;           // requests at its own listener, also those that are held
  double begun = 0;            // of those, since the last report
  double upstream_active = 0;  // requests at pods
  double upstream_pending = 0;
  double upstream_begun = 0;  // since the last report; a request that is tried again counts again
};

// What the transport tells the front. The calls of one Envoy come in the order in which things
// happened.
class DataPathEvents {
 public:
  virtual ~DataPathEvents() = default;

  // Its stream of resources begins. `returning`: it has resources from before, of an earlier stream
  // or process, and so may have requests at pods that we do not know of. Those that it has in their
  // newest version follow as OnAck. Called again without OnEnvoyGone: a newer stream of the same
  // Envoy takes the place of the one before, whose end is not told any more.
  virtual void OnEnvoy(const NodeId& node, bool returning, absl::Time now) = 0;
  virtual void OnEnvoyGone(const NodeId& node, absl::Time now) = 0;

  // It has this version. Versions before it that it was not sent are not told.
  virtual void OnAck(const NodeId& node, ResourceKind kind, const std::string& service,
                     uint64_t version, absl::Time now) = 0;
  // It keeps what it had. `services`: whose resources were in the refused message.
  virtual void OnNack(const NodeId& node, ResourceKind kind,
                      const std::vector<std::string>& services, absl::string_view text,
                      absl::Time now) = 0;

  // A gated request has come. It is answered by Release or Refuse, perhaps before this returns.
  virtual void OnRequest(RequestId id, const NodeId& node, const std::string& service,
                         absl::Time now) = 0;
  // The client is gone before the answer; or the request, that was released to a pod under a hard
  // limit, is over. Not told of others, nor of those that were refused.
  virtual void OnRequestEnd(RequestId id, absl::Time now) = 0;

  // One report of an Envoy's metrics. A service that is not in it has no requests there.
  virtual void OnLoad(const NodeId& node, absl::Span<const ServiceLoad> services,
                      absl::Time now) = 0;
};

}  // namespace flyball::front
