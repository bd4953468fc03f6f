#include "scaler/front/load_meter.h"

#include <algorithm>

namespace flyball::front {

namespace {

// A released request is seen at its pod within this time, or never.
constexpr absl::Duration kShownWithin = absl::Seconds(2);
// A crowd that arrives at once does so within this time.
constexpr absl::Duration kWholeSecond = absl::Seconds(1);

}  // namespace

void LoadMeter::Begin(absl::Time now) {
  gated_.Begin(now, /*proxied=*/false);
  ++held_;
}

void LoadMeter::End(absl::Time now) {
  gated_.End(now, /*proxied=*/false);
  --held_;
}

void LoadMeter::Report(const NodeId& node, uint64_t report, const ServiceLoad& load) {
  AtEnvoy& envoy = at_envoys_[node];
  envoy.sum += load.active;
  envoy.last = load.active;
  envoy.begun += load.begun;
  envoy.pods_last = load.upstream_active + load.upstream_pending;
  envoy.pods_sum += envoy.pods_last;
  const double counted = std::min(released_, load.upstream_begun);
  released_ -= counted;
  envoy.pods_begun += load.upstream_begun - counted;
  envoy.last_report = report;
  if (load.active > 0 || load.upstream_active > 0 || load.upstream_pending > 0) {
    envoy.busy_report = report;
  }
}

void LoadMeter::Wake(absl::Time now) {
  gated_.Report(now);
  woken_ = now;
}

void LoadMeter::BeginSecond(absl::Time now) {
  gated_.Report(now);
  second_ = now;
  // Requests whose clients left meanwhile did not begin at any pod.
  if (now - last_released_ > kShownWithin) released_ = 0;
  for (auto& [node, envoy] : at_envoys_) {
    envoy.sum = envoy.pods_sum = 0;
    envoy.begun = envoy.pods_begun = 0;
  }
}

scaler::TrafficSample LoadMeter::SoFar(const Envoys& envoys, absl::Time now,
                                       int64_t unknown) const {
  scaler::TrafficSample told, at_pods;
  for (const auto& [node, at] : at_envoys_) {
    const Envoys::Envoy* const envoy = envoys.Find(node);
    if (envoy == nullptr || now - envoy->heard > kSilence) continue;
    told.requests += at.begun;
    at_pods.requests += at.pods_begun;
    if (envoy->reports_in_second > 0) {
      told.concurrency += at.sum / envoy->reports_in_second;
      at_pods.concurrency += at.pods_sum / envoy->reports_in_second;
    } else if (at.last_report == envoy->reports) {
      told.concurrency += at.last;
      at_pods.concurrency += at.pods_last;
    }
  }
  scaler::RequestMeter copy = gated_;
  const scaler::MeterReport seen = copy.Report(now);
  const double waking = woken_ >= second_ - kWholeSecond ? held_ : 0;
  if (held_and_pods_) {
    return {.concurrency = std::max(told.concurrency,
                                    at_pods.concurrency + std::max(seen.concurrency, waking)),
            .requests = std::max(told.requests, at_pods.requests + seen.requests)};
  }
  return {.concurrency = std::max({told.concurrency, at_pods.concurrency,
                                   seen.concurrency + static_cast<double>(unknown), waking}),
          .requests = std::max(told.requests, seen.requests)};
}

uint64_t LoadMeter::LastBusyReport(const NodeId& node) const {
  const auto found = at_envoys_.find(node);
  return found == at_envoys_.end() ? 0 : found->second.busy_report;
}

}  // namespace flyball::front
