// Who stands in front of the pods of `http` triggers, as a trigger sees it: it is told which
// service is to be carried, and says how many replicas the service's requests need.
//
// Implementations are thread-safe; no call waits for anything but a lock.
//
// How that count enters a decision. Knative's math has windows, rates and delays of its own, so
// what it wants is not an amount that the replica math would average, but a count that is decided
// already. It becomes one proposal beside those of the other metrics and triggers: an External
// metric whose target is 1 for each replica, which no tolerance holds back (MetricSpec::exact). The
// largest proposal wins as ever, and pauses, modes, schedules, shards, bounds and the fence before
// writes are those of any autoscaler. Zero has a fence of its own, asked right before the write,
// which also keeps the last pod for the retention. Three defaults are other ones where such a
// trigger alone decides (spec/own/request_defaults.h): no stabilization, no policies, no cooldown,
// as each would delay a second time what the windows have delayed. Activity is what the front
// says.
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

// What a trigger asks for.
struct CarriedService {
  std::string ns;
  std::string autoscaler;
  ObjectReference target;   // whose pods they are
  front::HttpService http;  // without its port and protocol, which the cluster tells
};

struct RequestDemand {
  std::string error = {};  // not empty: unknown, and why
  int32_t replicas = 0;    // that the requests need
  bool active = false;     // false: zero replicas are enough
  // Known or not: what keeps requests from the service, for its condition FrontReady. Absent: that
  // is not known yet.
  std::optional<FrontReadiness> front = {};
};

class RequestFront {
 public:
  // A service that is carried until this ends. The same name may be carried anew right afterwards:
  // then its requests were never dropped.
  class Carried {
   public:
    virtual ~Carried() = default;
    virtual RequestDemand Demand() const = 0;
  };

  virtual ~RequestFront() = default;
  // `on_change` is called, from any thread and without a lock, when the demand is another one.
  virtual std::unique_ptr<Carried> Carry(CarriedService service,
                                         std::function<void()> on_change) = 0;

  // Asked right before a scale of zero is written, for whatever reason it is: false where a request
  // could still pass by unseen. Then `on_change` is called once it is safe. A service that is not
  // carried may always.
  virtual bool MayEnterZero(const std::string& name) = 0;
  // A write of the scale was tried.
  virtual void ScaleWritten(const std::string& name, int32_t from, int32_t to,
                            const absl::Status& status) = 0;
};

}  // namespace flyball::scaler
