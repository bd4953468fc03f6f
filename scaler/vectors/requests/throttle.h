// Which requests of one target run and which wait, so that no pod has more than its limit.
//
// Pure: no clock, no requests either: this counts them, and says where the next one goes. Not
// thread-safe. Requests are let in as they came, as soon as there is room.
//
// Without a limit for each pod (container_concurrency 0) all run while there is any pod. With one,
// the pods are divided between the proxies that serve the target: by address, each gets a slice.
//
// Source: Knative Serving v0.51.0 pkg/activator/net (throttler.go, lb_policy.go), pkg/queue
//         (breaker.go). Where it takes one of two random pods, here the first one of the fewest
//         requests is taken.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace flyball::scaler {

struct ThrottleLimits {
  int64_t container_concurrency = 0;  // of each pod; 0: none
  int64_t queue = 10000;              // with a limit: so many may wait...
  int64_t running = INT32_MAX;        // ...beside so many that run
};

class Throttle {
 public:
  // A place where requests run. One that comes back under the same address after it was gone is
  // another one, with room of its own.
  struct Destination {
    std::string address;
    int64_t limit = 0;  // 0: none
    int64_t running = 0;

    bool HasRoom() const { return limit == 0 || running < limit; }
  };
  using DestinationPtr = std::shared_ptr<Destination>;

  explicit Throttle(const ThrottleLimits& limits) : limits_(limits) {}

  // Requests go to these pods, which are known to answer.
  void SetPods(std::vector<std::string> addresses);

  // Requests go to one address that stands for so many ready pods.
  void SetServiceAddress(absl::string_view address, int64_t ready_pods);

  // The proxies that serve the target, of which this one is `self`. Where it is not among them,
  // nothing changes.
  void SetProxies(std::vector<std::string> addresses, absl::string_view self);

  // A request comes and waits, unless the queue is full: then false.
  bool Arrive();
  // One of those that wait goes.
  void Abandon();
  // The destination of the request that may run now, which it occupies until Finish; null when
  // none may.
  DestinationPtr Admit();
  void Finish(const DestinationPtr& destination);

  // How many may run; without a limit for each pod: 1 if any may.
  int64_t capacity() const { return capacity_; }
  int64_t waiting() const { return waiting_; }
  int64_t running() const { return running_; }
  // The pods of this proxy. While requests go to a service address: those before.
  const std::vector<DestinationPtr>& assigned() const { return assigned_; }

 private:
  void UpdateCapacity(int64_t ready_pods);
  void AssignPods();
  DestinationPtr PickFewestRunning() const;
  DestinationPtr PickFirstWithRoom() const;
  DestinationPtr PickNextWithRoom();

  ThrottleLimits limits_;
  std::vector<DestinationPtr> pods_;  // by address; empty while there is a service address
  std::vector<DestinationPtr> assigned_;
  DestinationPtr service_;
  int64_t ready_pods_ = 0;
  int64_t proxies_ = 0;
  std::optional<int64_t> index_;  // of this proxy among them; unset: all pods are its own
  size_t next_ = 0;               // where the search for a pod with room begins
  int64_t capacity_ = 0;
  int64_t waiting_ = 0;
  int64_t running_ = 0;
};

}  // namespace flyball::scaler
