// The front before the pods of `http` triggers, as a trigger sees it: the trigger names the service
// to carry, and gets the number of replicas that the service's requests need.
//
// Implementations are thread-safe; no call waits for more than a lock.
//
// How that count enters a decision: Knative's math has windows, rates and delays of its own, so its
// result is not an amount that the replica math could average, but a count that is already decided.
// It becomes one proposal beside those of the other metrics and triggers: an External metric whose
// target is 1 for each replica, and to which no tolerance applies (MetricSpec::exact). The largest
// proposal wins as always, and pauses, modes, schedules, shards, bounds and the fence before writes
// are those of any autoscaler. Before zero replicas are written, MayEnterZero is asked too. If such
// a trigger is all that the spec has, there is by default no stabilization, policy or cooldown
// (spec/own/request_defaults.h), since each would repeat a delay of the windows. The front also
// reports the activity.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "scaler/front/http_service.h"
#include "scaler/spec/autoscaler.h"
#include "scaler/triggers/front_readiness.h"

namespace flyball::scaler {

// The service that a trigger asks the front to carry.
struct CarriedService {
  std::string ns;
  std::string autoscaler;
  ObjectReference target;   // the scale target, to whose pods the requests go
  front::HttpService http;  // without port and protocol, which are read from the cluster
};

struct RequestDemand {
  std::string error = {};  // not empty: the demand is unknown, for this reason
  int32_t replicas = 0;    // the number that the requests need
  bool active = false;     // false: zero replicas are enough
  // Whether requests reach the service, or why not, for its condition FrontReady; also set if the
  // demand is unknown. Absent: not known yet.
  std::optional<FrontReadiness> front = {};
};

class RequestFront {
 public:
  // The service is carried until this object is destroyed. If the same name is carried again right
  // afterwards, none of its requests is dropped.
  class Carried {
   public:
    virtual ~Carried() = default;
    virtual RequestDemand Demand() const = 0;
  };

  virtual ~RequestFront() = default;
  // `on_change` is called, from any thread and without a lock, when the demand has changed.
  virtual std::unique_ptr<Carried> Carry(CarriedService service,
                                         std::function<void()> on_change) = 0;

  // Asked right before a scale of zero is written, whatever the reason. False if a request could
  // still reach a pod without being counted, or if the retention keeps the last pod; `on_change` is
  // called once zero may be written. True for a service that is not carried.
  virtual bool MayEnterZero(const std::string& name) = 0;
  // Reports the result of a write of the scale.
  virtual void ScaleWritten(const std::string& name, int32_t from, int32_t to,
                            const absl::Status& status) = 0;
};

}  // namespace flyball::scaler
