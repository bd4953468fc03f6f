#include "scaler/math/requests/pod_sampling.h"

#include <algorithm>
#include <cmath>

namespace flyball::scaler {
namespace {

// 1.96 squared, times the variance, divided by the margin squared.
constexpr double kUnboundedSample = 1.96 * 1.96 * 100 / (5.0 * 5.0);

}  // namespace

int64_t SampleSize(int64_t population) {
  if (population <= 3) return std::max<int64_t>(population, 0);
  const auto all = static_cast<double>(population);
  return static_cast<int64_t>(std::ceil(all * kUnboundedSample / (all + kUnboundedSample - 1)));
}

std::optional<TrafficSample> TrafficOfAll(const std::vector<ScrapedPod>& pods,
                                          absl::Duration window) {
  const int64_t wanted = SampleSize(static_cast<int64_t>(pods.size()));
  TrafficSample sum;
  int64_t answers = 0;
  for (const bool old : {true, false}) {
    for (const ScrapedPod& pod : pods) {
      if (answers == wanted) break;
      if ((pod.age >= window) != old || !pod.answer.has_value()) continue;
      sum.concurrency += pod.answer->concurrency;
      sum.proxied_concurrency += pod.answer->proxied_concurrency;
      sum.requests += pod.answer->requests;
      sum.proxied_requests += pod.answer->proxied_requests;
      ++answers;
    }
  }
  if (answers < wanted) return std::nullopt;
  if (wanted == 0) return sum;
  const auto asked = static_cast<double>(wanted);
  const auto all = static_cast<double>(pods.size());
  return TrafficSample{.concurrency = sum.concurrency / asked * all,
                       .proxied_concurrency = sum.proxied_concurrency / asked * all,
                       .requests = sum.requests / asked * all,
                       .proxied_requests = sum.proxied_requests / asked * all};
}

}  // namespace flyball::scaler
