// How many requests are in flight on average, and how many began, from one report to the next.
//
// Pure: no clock. Not thread-safe. Averages are over time: a request of half a period counts half.
//
// Source: knative.dev/networking pkg/http/stats/request.go.
#pragma once

#include "absl/time/time.h"

namespace flyball::scaler {

struct MeterReport {
  double concurrency = 0;
  double proxied_concurrency = 0;  // of requests that came through another proxy of ours
  double requests = 0;
  double proxied_requests = 0;
};

class RequestMeter {
 public:
  explicit RequestMeter(absl::Time start) : changed_(start) {}

  void Begin(absl::Time now, bool proxied);
  void End(absl::Time now, bool proxied);

  // Reports the time since the last report. Requests that are under way are carried over.
  MeterReport Report(absl::Time now);

 private:
  // Times may come in any order: a step back counts as no time.
  void Advance(absl::Time now);

  absl::Time changed_;
  double in_flight_ = 0;
  double proxied_in_flight_ = 0;
  MeterReport sums_;  // of the period: request seconds, and requests
  double seconds_ = 0;
};

}  // namespace flyball::scaler
