// The requests of one service, second by second: in flight on average, and begun.
//
// Pure. Not thread-safe. Two sources see the same requests: the Envoys' reports, which count all of
// them four times a second, and ourselves, who see gated ones to the instant, until they are
// released. The greater one of both counts: neither sees more than there are.
//
// Requests that come by the listener for hosts are in no statistic of their service but those of
// its pods: where a service has hosts, all its requests are those at pods and, without a hard
// limit, those that we hold. (Under a hard limit we see all of them until their ends.) What was
// held is counted where it arrives, and not again as it begins at a pod.
//
// Whoever is held counts from its arrival, so in the second in which a service wakes, and in the
// one after, as many are in flight as are held at the end, not on average since its beginning.
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

  // Whether requests come by hosts too; under a hard limit each is gated.
  void SetHosts(bool hosts, bool hard_limit) { held_and_pods_ = hosts && !hard_limit; }

  // A gated request comes; it goes on, has ended, or was refused.
  void Begin(absl::Time now);
  void End(absl::Time now);
  // It goes on and will begin at a pod; without a hard limit. After End.
  void Released(absl::Time now) {
    if (!held_and_pods_) return;
    ++released_;
    last_released_ = now;
  }

  void Report(const NodeId& node, uint64_t report, const ServiceLoad& load);
  void Forget(const NodeId& node) { at_envoys_.erase(node); }
  // Forgets those that are not among the Envoys: whoever reports need not be connected.
  void KeepOnly(const Envoys& envoys) {
    std::erase_if(at_envoys_, [&](const auto& each) { return envoys.Find(each.first) == nullptr; });
  }

  // Measures from now on, as a service does that wakes.
  void Wake(absl::Time now);
  void BeginSecond(absl::Time now);

  // Of the second that is under way, as if it ended now.
  scaler::TrafficSample SoFar(const Envoys& envoys, absl::Time now) const;

  // The number of the Envoy's last report that told of requests; 0: none did.
  uint64_t LastBusyReport(const NodeId& node) const;

 private:
  struct AtEnvoy {
    double sum = 0;  // of the reports in this second
    double last = 0;
    double begun = 0;
    double pods_sum = 0;  // the same of requests at pods
    double pods_last = 0;
    double pods_begun = 0;
    uint64_t last_report = 0;
    uint64_t busy_report = 0;
  };

  bool held_and_pods_ = false;
  double released_ = 0;  // that no report has shown at a pod yet
  absl::Time last_released_ = absl::InfinitePast();
  scaler::RequestMeter gated_;
  double held_ = 0;
  absl::Time woken_ = absl::InfinitePast();
  absl::Time second_ = absl::InfinitePast();  // when the one under way began
  std::map<NodeId, AtEnvoy> at_envoys_;
};

}  // namespace flyball::front
