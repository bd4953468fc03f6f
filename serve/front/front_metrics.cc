#include "serve/front/front_metrics.h"

#include "serve/front/metric_family.h"

namespace flyball::serve {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

MetricFamily Gauge(const char* name, const char* help, double value) {
  return Family(MetricType::Gauge, name, help, {{.labels = {}, .value = value}});
}

MetricFamily Counter(const char* name, const char* help, uint64_t value) {
  return Family(MetricType::Counter, name, help,
                {{.labels = {}, .value = static_cast<double>(value)}});
}

MetricFamily HeldRequests(const std::vector<CarriedState>& states) {
  std::vector<MetricValue> held;
  for (const CarriedState& state : states) {
    if (!state.front.has_value()) continue;
    held.push_back({{{"service", state.service}}, static_cast<double>(state.front->held)});
  }
  return Family(MetricType::Gauge, "flyball_front_held",
                "Requests that wait for a pod, by service.", held);
}

MetricFamily Refused(const front::FrontCounters& counters) {
  std::vector<MetricValue> refused;
  for (const front::RefusalReason reason :
       {front::RefusalReason::kActivationTimeout, front::RefusalReason::kQueueFull,
        front::RefusalReason::kActivationFailed}) {
    refused.push_back({{{"reason", front::NameOf(reason)}},
                       static_cast<double>(counters.refused_total[static_cast<size_t>(reason)])});
  }
  return Family(MetricType::Counter, "flyball_front_refused_total",
                "Held requests that were answered with an error, by reason.", refused);
}

MetricFamily ColdStartSeconds(const std::array<ServeFront::ColdStarts, 5>& parts) {
  static constexpr const char* kParts[] = {"total", "write", "pod", "probe", "ack"};
  MetricFamily family = Family(
      MetricType::Histogram, "flyball_front_cold_start_seconds",
      "Seconds from the first request that was held at zero replicas to its release, and the parts "
      "of that time.",
      {});
  for (size_t i = 0; i < parts.size(); ++i) {
    prometheus::ClientMetric& metric = family.metric.emplace_back();
    metric.label = {{"part", kParts[i]}};
    metric.histogram.sample_count = parts[i].count;
    metric.histogram.sample_sum = absl::ToDoubleSeconds(parts[i].sum);
    for (size_t j = 0; j < parts[i].within.size(); ++j) {
      prometheus::ClientMetric::Bucket& bucket = metric.histogram.bucket.emplace_back();
      bucket.upper_bound = ServeFront::ColdStarts::kBounds[j];
      bucket.cumulative_count = parts[i].within[j];
    }
  }
  return family;
}

}  // namespace

std::vector<MetricFamily> FrontMetrics(const ServeFront& front) {
  const front::FrontTotals totals = front.Totals();
  const front::FrontCounters& counters = totals.counters;
  return {
      Gauge("flyball_front_envoys", "Envoys that are connected.",
            static_cast<double>(totals.envoys)),
      Gauge("flyball_front_acks_pending",
            "Parts of the configuration that were sent to an Envoy and are not confirmed yet.",
            static_cast<double>(totals.acks_pending)),
      HeldRequests(front.States()),
      Counter("flyball_front_held_total", "Requests that had to wait for a pod.",
              counters.held_total),
      Counter("flyball_front_wakes_total", "How often a request scaled a service up from zero.",
              counters.wakes_total),
      ColdStartSeconds(front.cold_starts()),
      Refused(counters),
      Counter("flyball_front_gated_requests_total", "Requests that an Envoy asked Flyball about.",
              counters.gated_requests_total),
      Gauge("flyball_front_slots_used",
            "Requests in progress at pods with a hard limit on concurrency.",
            static_cast<double>(totals.slots_used)),
      Gauge("flyball_front_slots",
            "Requests that pods with a hard limit on concurrency may have in progress.",
            static_cast<double>(totals.slots_total)),
      Counter("flyball_front_xds_nacks_total", "Parts of the configuration that an Envoy refused.",
              counters.nacks_total),
      Gauge("flyball_front_stats_age_seconds",
            "Seconds since the connected Envoy that has been silent longest sent anything.",
            absl::ToDoubleSeconds(totals.stats_age)),
  };
}

}  // namespace flyball::serve
