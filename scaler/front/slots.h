// Which pod a request goes to where each pod gets at most so many at once: a hard limit.
//
// Pure. Not thread-safe. The pod with the fewest requests is taken, and of equals the next one in
// turn. A pod that takes no requests for a while keeps those that it has; the slots of a pod that
// is gone are not given again, also not under the same address.
//
// An Envoy that comes back, after our restart or after its connection broke, may have requests at
// pods that we do not know of. Nothing is given until it has reported how many are there; then so
// many count as used at each pod that was there before, for it does not say which, until its
// reports fall. The same holds for an Envoy whose calls broke while it stayed: it has more at pods
// than it was given since, for its requests go on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "scaler/front/data_path.h"
#include "scaler/front/envoys.h"
#include "scaler/front/pod_table.h"

namespace flyball::front {

class Slots {
 public:
  void SetLimit(int32_t limit) { limit_ = limit; }
  // The pods that exist, by uid.
  void SetPods(const std::vector<PodPlace>& pods);

  // An Envoy of which it is unknown what it has at pods, until it reports.
  void Await(const NodeId& node, absl::Time now);
  // Goes on without those that have been silent for kSilence. Whether there was one.
  bool StopAwaiting(absl::Time now);
  void Forget(const NodeId& node) { envoys_.erase(node); }
  // So many requests of this Envoy are at pods, known ones among them.
  void Report(const NodeId& node, int64_t at_pods);

  // The pod for the request, among those that `reachable` says yes to; none if all are full.
  std::optional<std::string> Give(RequestId id, const NodeId& node,
                                  absl::FunctionRef<bool(const std::string&)> reachable);
  // The request is over. Whether it had a slot, of whatever pod.
  bool Return(RequestId id);

  // Whether any pod may have room.
  bool HasRoom() const;
  int64_t used() const;  // with those that are unknown
  int64_t total() const;

 private:
  struct PodUse {
    PodPlace place;
    int32_t used = 0;
    bool before = false;  // it was there when an Envoy was awaited, so may have unknown requests
  };
  struct GivenSlot {
    std::string uid;
    NodeId node;
  };
  struct EnvoyUse {
    std::optional<absl::Time> awaited_since;
    int64_t unknown = 0;
    int64_t given = 0;  // requests with a slot
    // The fewest that were given since the last report, and between the two before: that many are
    // in the Envoy's count for certain, which is a little older than its report.
    int64_t fewest = 0;
    int64_t fewest_before = 0;
    // The most, of the same times: what it has beyond these is unknown for certain.
    int64_t most = 0;
    int64_t most_before = 0;
  };
  bool HasRoom(const PodUse& pod, int64_t unknown) const;
  int64_t Unknown() const;
  bool Awaits() const;

  int64_t limit_ = 1;
  size_t next_ = 0;           // where the search begins
  std::vector<PodUse> pods_;  // by uid
  std::map<NodeId, EnvoyUse> envoys_;
  absl::flat_hash_map<RequestId, GivenSlot> given_;
};

}  // namespace flyball::front
