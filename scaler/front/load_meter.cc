#include "scaler/front/load_meter.h"

#include <algorithm>

namespace flyball::front {

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
  for (auto& [node, envoy] : at_envoys_) {
    envoy.sum = 0;
    envoy.begun = 0;
  }
}

scaler::TrafficSample LoadMeter::SoFar(const Envoys& envoys, absl::Time now) const {
  scaler::TrafficSample told;
  for (const auto& [node, at] : at_envoys_) {
    const Envoys::Envoy* const envoy = envoys.Find(node);
    if (envoy == nullptr || now - envoy->heard > kSilence) continue;
    told.requests += at.begun;
    if (envoy->reports_in_second > 0) {
      told.concurrency += at.sum / envoy->reports_in_second;
    } else if (at.last_report == envoy->reports) {
      told.concurrency += at.last;
    }
  }
  scaler::RequestMeter copy = gated_;
  const scaler::MeterReport seen = copy.Report(now);
  const double waking = woken_ >= second_ ? held_ : 0;
  return {.concurrency = std::max({told.concurrency, seen.concurrency, waking}),
          .requests = std::max(told.requests, seen.requests)};
}

uint64_t LoadMeter::LastBusyReport(const NodeId& node) const {
  const auto found = at_envoys_.find(node);
  return found == at_envoys_.end() ? 0 : found->second.busy_report;
}

}  // namespace flyball::front
