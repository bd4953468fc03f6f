// Asks the metrics APIs as the HPA controller does, and walks from a metric that fails through its
// rule to Prometheus.
//
// Blocking; each call ends within its timeout. Reads only. Source of the paths: k8s.io/metrics
// v0.34.4 custom_metrics and external_metrics, k8s.io/kubernetes v1.34.4 podautoscaler/metrics.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "adapter/metric_source.h"
#include "doctor/metric.h"
#include "doctor/rule_series.h"
#include "kube/client/api_client.h"
#include "kube/objects/rest_mapping.h"

namespace flyball::doctor {

// The path of the question. kNotFound: the cluster does not know the kind of the described object.
absl::StatusOr<std::string> MetricPath(const scaler::MetricSpec& spec, absl::string_view ns,
                                       absl::string_view pod_selector,
                                       absl::string_view custom_version,
                                       const kube::RestMapper& mapper);

class MetricLooker {
 public:
  struct Deps {
    kube::ApiClient& api;
    const kube::RestMapper& mapper;
    const Discovered* discovered = nullptr;   // nullptr: no rules to walk
    adapter::MetricSource* source = nullptr;  // as well
    absl::Time now;
    absl::Duration timeout = absl::Seconds(10);
  };

  explicit MetricLooker(const Deps& deps);

  MetricFacts Look(const scaler::MetricSpec& spec, const MeasuredPods& measured);

 private:
  using Names = std::optional<std::vector<std::string>>;
  Names NamesOf(const std::string& path);
  std::optional<bool> Listed(const scaler::MetricSpec& spec) const;

  const Deps deps_;
  std::string custom_version_;
  Names custom_names_, external_names_;
};

}  // namespace flyball::doctor
