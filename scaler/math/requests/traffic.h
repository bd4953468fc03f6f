// The requests of a target, in flight and begun, each averaged over a stable and a panic window.
//
// Pure: no clock. Not thread-safe. Requests that came through the activator are in the pods'
// reports too, where the pods mark them as proxied; they are subtracted there.
//
// Source: Knative Serving v0.51.0 pkg/autoscaler/metrics/collector.go.
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "scaler/math/requests/window.h"
#include "scaler/spec/request_settings.h"

namespace flyball::scaler {

// One report, of one second.
struct TrafficSample {
  double concurrency = 0;  // mean of the requests in flight
  double proxied_concurrency = 0;
  double requests = 0;  // how many began
  double proxied_requests = 0;
};

struct TrafficAverages {
  bool empty = false;  // nothing was reported for longer than the stable window
  double stable = 0;
  double panic = 0;
};

class TrafficWindows {
 public:
  explicit TrafficWindows(const RequestSettings& settings);

  // Resizes the windows to those of other settings. Whether averages are weighted stays.
  void Configure(const RequestSettings& settings, absl::Time now);
  void SetWeighted(bool weighted);

  void Record(absl::Time now, const TrafficSample& sample);

  // The averages of the settings' metric.
  TrafficAverages Averages(const RequestSettings& settings, absl::Time now) const;

 private:
  RequestWindow stable_concurrency_;
  RequestWindow panic_concurrency_;
  RequestWindow stable_requests_;
  RequestWindow panic_requests_;
};

}  // namespace flyball::scaler
