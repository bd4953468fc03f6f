#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "kube/objects/json_members.h"
#include "scaler/vectors/requests/kinds.h"
#include "scaler/vectors/requests/scenario.h"
#include "scaler/vectors/requests/throttle.h"

namespace flyball::scaler {
namespace {

using Json = nlohmann::ordered_json;

ThrottleLimits LimitsOf(const Json& in) {
  ThrottleLimits limits;
  limits.container_concurrency = kube::NumberOf(in, "cc");
  if (const int64_t depth = kube::NumberOf(in, "depth"); depth > 0) limits.queue = depth;
  if (const int64_t limit = kube::NumberOf(in, "limit"); limit > 0) limits.running = limit;
  return limits;
}

// One throttle and the requests that it admitted.
class ThrottleRun {
 public:
  explicit ThrottleRun(const Json& in)
      : limited_(kube::NumberOf(in, "cc") > 0), throttle_(LimitsOf(in)) {}

  absl::Status Happen(const Json& event) {
    const std::string what = TextAt(event, 1);
    if (what == "pods") {
      throttle_.SetPods(TextsAt(event, 2));
    } else if (what == "clusterip") {
      const std::vector<std::string> ready = TextsAt(event, 3);
      const std::set<std::string> distinct(ready.begin(), ready.end());
      throttle_.SetServiceAddress(TextAt(event, 2), static_cast<int64_t>(distinct.size()));
    } else if (what == "activators") {
      throttle_.SetProxies(TextsAt(event, 2), TextAt(event, 3));
    } else if (what == "start") {
      if (!throttle_.Arrive()) ++full_;
    } else if (what == "finish") {
      Finish(TextAt(event, 2));
    } else if (what == "abandon") {
      if (throttle_.waiting() > 0) ++abandoned_;
      throttle_.Abandon();
    } else {
      return absl::InvalidArgumentError("events: expected a known one, got " + what);
    }
    while (Throttle::DestinationPtr admitted = throttle_.Admit()) {
      running_.push_back(std::move(admitted));
    }
    return absl::OkStatus();
  }

  Json State(int64_t ms) const {
    Json assigned = Json::array();
    for (const auto& pod : throttle_.assigned()) assigned.push_back(pod->address);
    Json state = {{"t", ms},
                  {"capacity", throttle_.capacity()},
                  {"assigned", assigned},
                  {"running", throttle_.running()},
                  {"queued", throttle_.waiting()},
                  {"done", done_},
                  {"full", full_},
                  {"abandoned", abandoned_}};
    if (!limited_) return state;
    std::map<std::string, int64_t> running;
    for (const auto& destination : running_) ++running[destination->address];
    state["per_dest"] = running;
    return state;
  }

 private:
  // Ends the oldest request that runs at the address; "" means at any address.
  void Finish(const std::string& address) {
    const auto found = std::find_if(running_.begin(), running_.end(), [&](const auto& each) {
      return address.empty() || each->address == address;
    });
    if (found == running_.end()) return;
    throttle_.Finish(*found);
    running_.erase(found);
    ++done_;
  }

  bool limited_;
  Throttle throttle_;
  std::vector<Throttle::DestinationPtr> running_;  // in the order in which they were admitted
  int64_t done_ = 0;
  int64_t full_ = 0;
  int64_t abandoned_ = 0;
};

}  // namespace

absl::StatusOr<Json> AnswerThrottle(const Json& in) {
  if (kube::NumberOf(in, "cc") < 0 || kube::NumberOf(in, "cc") > INT32_MAX ||
      kube::NumberOf(in, "depth") > INT32_MAX || kube::NumberOf(in, "limit") > INT32_MAX) {
    return absl::InvalidArgumentError("cc, depth, limit: out of range");
  }
  ThrottleRun run(in);
  Json states = Json::array();
  for (const Json& event : kube::ItemsOf(in, "events")) {
    RETURN_IF_ERROR(run.Happen(event));
    states.push_back(run.State(IntAt(event, 0)));
  }
  return Json{{"states", states}};
}

}  // namespace flyball::scaler
