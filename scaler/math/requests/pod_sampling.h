// How many pods are asked for their traffic, and the traffic of all pods that follows from the
// answers.
//
// Pure. Source: Knative Serving v0.51.0 pkg/autoscaler/metrics (sample_size.go, stats_scraper.go).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "scaler/math/requests/traffic.h"

namespace flyball::scaler {

// How many of a population are asked so that the mean is within 5 at 95 % confidence, if the
// variance is 100: all if there are three or fewer, and never more than 16.
int64_t SampleSize(int64_t population);

// A pod that can be asked. A pod that is younger than a stable window reports its start-up.
struct ScrapedPod {
  absl::Duration age;
  std::optional<TrafficSample> answer;  // nullopt: it does not answer
};

// The traffic of all pods, extrapolated from the answers of SampleSize() of them. Pods that are at
// least `window` old are preferred; younger ones replace those that are missing or fail. nullopt if
// too few answer, which must not be taken as no traffic. Pods of the same age are taken in the
// given order: a caller that wants a random sample shuffles them.
std::optional<TrafficSample> TrafficOfAll(const std::vector<ScrapedPod>& pods,
                                          absl::Duration window);

}  // namespace flyball::scaler
