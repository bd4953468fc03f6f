#include "scaler/front/envoy/load_report.h"

#include <cmath>
#include <map>

#include "absl/strings/string_view.h"
#include "scaler/front/envoy/names.h"

namespace flyball::front {
namespace {

struct Statistic {
  absl::string_view name;
  absl::string_view label;  // the label whose value names the service
  double ServiceLoad::*value;
};

constexpr absl::string_view kListenerLabel = "envoy.http_conn_manager_prefix";
constexpr absl::string_view kClusterLabel = "envoy.cluster_name";
constexpr Statistic kStatistics[] = {
    {"http.downstream_rq_active", kListenerLabel, &ServiceLoad::active},
    {"http.downstream_rq_total", kListenerLabel, &ServiceLoad::begun},
    {"cluster.upstream_rq_active", kClusterLabel, &ServiceLoad::upstream_active},
    {"cluster.upstream_rq_pending_active", kClusterLabel, &ServiceLoad::upstream_pending},
    {"cluster.upstream_rq_total", kClusterLabel, &ServiceLoad::upstream_begun},
};

double ValueOf(const envoy::Metric& metric) {
  const double value = metric.has_gauge() ? metric.gauge().value() : metric.counter().value();
  return std::isfinite(value) && value > 0 ? value : 0;
}

}  // namespace

std::vector<ServiceLoad> LoadOf(const envoy::StreamMetricsMessage& report) {
  std::map<std::string, ServiceLoad> services;
  for (const envoy::MetricFamily& family : report.envoy_metrics()) {
    for (const Statistic& statistic : kStatistics) {
      if (family.name() != statistic.name) continue;
      for (const envoy::Metric& metric : family.metric()) {
        for (const envoy::Label& label : metric.label()) {
          if (label.name() != statistic.label) continue;
          services[ServiceOfStatName(label.value())].*statistic.value += ValueOf(metric);
        }
      }
    }
  }
  std::vector<ServiceLoad> loads;
  for (auto& [service, load] : services) {
    // The names of the Envoy's own listeners and clusters have no slash.
    if (service.find('/') == service.npos) continue;
    load.service = service;
    loads.push_back(std::move(load));
  }
  return loads;
}

}  // namespace flyball::front
