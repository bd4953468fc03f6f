// Which requests of one target run and which wait, so that no pod has more than its limit.
//
// Pure: it has no clock, counts requests without holding them, and says where the next one goes.
// Not thread-safe. Requests are admitted in the order in which they came, as soon as there is room.
//
// Without a limit for each pod (container_concurrency 0) all requests run while there is any pod.
// With a limit the pods, sorted by address, are divided between the proxies that serve the target.
//
// Source:  Knative Serving v0.51.0 pkg/activator/net (throttler.go, lb_policy.go), pkg/queue
//          (breaker.go).
// Differs: instead of the better of two random pods it takes the first pod with the fewest
//          requests.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace flyball::scaler {

struct ThrottleLimits {
  int64_t container_concurrency = 0;  // requests at each pod; 0: no limit
  int64_t queue = 10000;              // with that limit, no more than queue + running requests
  int64_t running = INT32_MAX;        // may wait or run
};

class Throttle {
 public:
  // A place where requests run. If an address disappears and comes back, it is a new destination,
  // which runs no requests yet.
  struct Destination {
    std::string address;
    int64_t limit = 0;  // 0: none
    int64_t running = 0;

    bool HasRoom() const { return limit == 0 || running < limit; }
  };
  using DestinationPtr = std::shared_ptr<Destination>;

  explicit Throttle(const ThrottleLimits& limits) : limits_(limits) {}

  // Sends requests to these pods, which are known to answer.
  void SetPods(std::vector<std::string> addresses);

  // Sends requests to one address with `ready_pods` pods behind it.
  void SetServiceAddress(absl::string_view address, int64_t ready_pods);

  // The proxies that serve the target; `self` is this one. Without it among them, nothing changes.
  void SetProxies(std::vector<std::string> addresses, absl::string_view self);

  // A request arrives and waits; false if the queue is full, so that it is refused.
  bool Arrive();
  // A waiting request is given up.
  void Abandon();
  // The destination of the request that may run now, which it occupies until Finish; null if none
  // may run.
  DestinationPtr Admit();
  void Finish(const DestinationPtr& destination);

  // How many requests may run; without a limit for each pod it is 1 if any may, else 0.
  int64_t capacity() const { return capacity_; }
  int64_t waiting() const { return waiting_; }
  int64_t running() const { return running_; }
  // The pods of this proxy; while requests go to a service address, the pods that it had before.
  const std::vector<DestinationPtr>& assigned() const { return assigned_; }

 private:
  void UpdateCapacity(int64_t ready_pods);
  void AssignPods();
  DestinationPtr PickFewestRunning() const;
  DestinationPtr PickFirstWithRoom() const;
  DestinationPtr PickNextWithRoom();

  ThrottleLimits limits_;
  std::vector<DestinationPtr> pods_;  // sorted by address; empty while there is a service address
  std::vector<DestinationPtr> assigned_;
  DestinationPtr service_;
  int64_t ready_pods_ = 0;
  int64_t proxies_ = 0;
  std::optional<int64_t> index_;  // of this proxy among proxies_; unset: all pods are its own
  size_t next_ = 0;               // where the search for a pod with room begins
  int64_t capacity_ = 0;
  int64_t waiting_ = 0;
  int64_t running_ = 0;
};

}  // namespace flyball::scaler
