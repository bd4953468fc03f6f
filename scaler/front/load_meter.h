// Measures the requests of one service for each second: how many were in flight on average, and how
// many began.
// Pure. Not thread-safe. Two sources see the same requests: the Envoys' reports, which count all of
// them four times a second, and the front itself, which sees gated ones exactly until they are
// released. The greater of the two numbers counts, since neither sees more than there are.
//
// Requests at the listener for hosts appear in the statistics of the service's pods, not in those
// of the service. So for a service with hosts all requests are those at pods plus, without a hard
// limit, those that are held. With a hard limit the front sees all of them until their ends, except
// those of an earlier process, which are added. A held request counts as begun when it arrives, and
// not again when it begins at a pod.
//
// In the second in which a service wakes, and in the one after, the number in flight is that of the
// requests held at the end, not the average since the second began: held requests have waited since
// they arrived.
#pragma once

#include <cstdint>
#include <map>

#include "absl/time/time.h"
#include "scaler/front/data_path.h"
#include "scaler/front/envoys.h"
#include "scaler/front/request_meter.h"
#include "scaler/math/requests/traffic.h"

namespace flyball::front {

class LoadMeter {
 public:
  explicit LoadMeter(absl::Time now) : gated_(now) {}

  // Whether requests also arrive at the listener for hosts; with a hard limit each is gated.
  void SetHosts(bool hosts, bool hard_limit) { held_and_pods_ = hosts && !hard_limit; }

  // A gated request arrives.
  void Begin(absl::Time now);
  // A gated request goes on, has ended, or was refused.
  void End(absl::Time now);
  // Without a hard limit, to be called after End: the request goes on and will begin at a pod.
  void Released(absl::Time now) {
    if (!held_and_pods_) return;
    ++released_;
    last_released_ = now;
  }

  void Report(const NodeId& node, uint64_t report, const ServiceLoad& load);
  void Forget(const NodeId& node) { at_envoys_.erase(node); }
  // Forgets reporters that are not in `envoys`; an Envoy may report without being connected.
  void KeepOnly(const Envoys& envoys) {
    std::erase_if(at_envoys_, [&](const auto& each) { return envoys.Find(each.first) == nullptr; });
  }

  // Starts measuring anew, for a service that wakes.
  void Wake(absl::Time now);
  void BeginSecond(absl::Time now);

  // The sample of the present second, as if it ended now. `unknown`: under a hard limit, requests
  // at pods that the front has not seen begin.
  scaler::TrafficSample SoFar(const Envoys& envoys, absl::Time now, int64_t unknown = 0) const;

  // The number of the Envoy's last report with requests; 0: there was none.
  uint64_t LastBusyReport(const NodeId& node) const;

 private:
  struct AtEnvoy {
    double sum = 0;  // of the reports in this second
    double last = 0;
    double begun = 0;
    double pods_sum = 0;  // this and the next two: the same for requests at pods
    double pods_last = 0;
    double pods_begun = 0;
    uint64_t last_report = 0;
    uint64_t busy_report = 0;
  };

  bool held_and_pods_ = false;
  double released_ = 0;  // released requests that no report has shown at a pod yet
  absl::Time last_released_ = absl::InfinitePast();
  scaler::RequestMeter gated_;
  double held_ = 0;
  absl::Time woken_ = absl::InfinitePast();
  absl::Time second_ = absl::InfinitePast();  // when the present second began
  std::map<NodeId, AtEnvoy> at_envoys_;
};

}  // namespace flyball::front
