// Chooses the pod for each request of a service with a hard limit, so that each pod gets at most
// that many requests at once.
//
// Pure. Not thread-safe. The pod with the fewest requests is taken, in turn among equals. A pod
// that takes no new requests for a while keeps those that it has; the slots of a deleted pod are
// never given again, not even under the same address.
//
// An Envoy that comes back, after a restart of this process or after its connection broke, may have
// requests at pods that are unknown here. No slot is given until it has reported how many there
// are. Then, since the report does not say at which pods they are, that many count as used at each
// pod that existed before, until its reports fall. The same holds for an Envoy whose calls broke
// while it stayed connected: its requests go on, so it has more at pods than the slots that it was
// given since. An Envoy that is cut off while it serves counts with as many requests as it may have
// had last, for a minute at most: it starts no new ones without this process, and none of its pods
// gets others meanwhile.
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

  // The number of this Envoy's requests at pods is unknown from now on, until it reports.
  void Await(const NodeId& node, absl::Time now);
  // Stops waiting for Envoys that have been silent for kSilence, and for the ends of requests of
  // those that are cut off. Returns whether it was waiting for one.
  bool StopAwaiting(absl::Time now);
  void Forget(const NodeId& node) { envoys_.erase(node); }
  // The Envoy is cut off: its requests go on, and their ends will not be reported. `longest`: how
  // long one may take; 0: without limit.
  void CutOff(const NodeId& node, absl::Time now, absl::Duration longest);
  // `at_pods` requests of this Envoy are at pods, including known ones.
  void Report(const NodeId& node, int64_t at_pods);

  // The pod for the request, among those for which `reachable` is true; nullopt if all are full.
  std::optional<std::string> Give(RequestId id, const NodeId& node,
                                  absl::FunctionRef<bool(const std::string&)> reachable);
  // The request is over. Returns whether it had a slot.
  bool Return(RequestId id);

  // Whether any pod may have room.
  bool HasRoom() const;
  int64_t used() const;  // including unknown requests
  // Unknown requests at pods according to Envoys' reports, hence without those that are cut off.
  int64_t unknown_by_report() const;
  int64_t total() const;

 private:
  struct PodUse {
    PodPlace place;
    int32_t used = 0;
    bool before = false;  // it existed when an Envoy was awaited, so it may have unknown requests
  };
  struct GivenSlot {
    std::string uid;
    NodeId node;
  };
  struct EnvoyUse {
    std::optional<absl::Time> awaited_since;
    std::optional<absl::Time> cut_off_until;
    int64_t unknown = 0;
    int64_t reported = 0;  // requests at pods, by its last report
    int64_t given = 0;     // requests with a slot
    // The smallest number of given slots since the last report, and between the two reports before
    // it. The Envoy's count, which is a little older than its report, includes at least that many.
    int64_t fewest = 0;
    int64_t fewest_before = 0;
    // The largest number in the same times: any requests beyond it are certainly unknown ones.
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
