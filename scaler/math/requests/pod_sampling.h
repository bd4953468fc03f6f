// How many pods are asked, and what all of them carry by their answers.
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
// variance is 100: all of three, never more than 16.
int64_t SampleSize(int64_t population);

// A pod that could be asked. What a pod of less than a stable window says is of its start.
struct ScrapedPod {
  absl::Duration age;
  std::optional<TrafficSample> answer;  // nullopt: it does not answer
};

// The traffic of all pods, from the answers of SampleSize() of them: of those that are at least
// `window` old as far as they reach, and of younger ones in place of those that fail. nullopt when
// too few answer, which must not be taken for no traffic. Pods of one age are taken in their order:
// whoever wants chance shuffles them.
std::optional<TrafficSample> TrafficOfAll(const std::vector<ScrapedPod>& pods,
                                          absl::Duration window);

}  // namespace flyball::scaler
