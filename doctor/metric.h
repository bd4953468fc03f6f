// Checks one metric of an autoscaler: what the API answers for it and, if that fails, where the
// chain behind it breaks.
//
// The facts are plain values; the checks are pure. The looks (metric_look.cc) gather the facts:
// they ask the metrics APIs as the HPA controller does, and follow a metric that fails through its
// rule to Prometheus. They only read; they block, and each of their calls ends within its timeout.
//
// Source of the paths: k8s.io/metrics v0.34.4 custom_metrics and external_metrics,
// k8s.io/kubernetes v1.34.4 podautoscaler/metrics.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "adapter/queries/metric_source.h"
#include "doctor/finding.h"
#include "doctor/objects.h"
#include "doctor/rule_series.h"
#include "kube/client/api_client.h"
#include "kube/objects/rest_mapping.h"
#include "scaler/math/pods.h"
#include "scaler/spec/autoscaler.h"

namespace flyball::doctor {

// The path from a metric's name through its rule to Prometheus, as far as it could be followed.
struct Walk {
  // The rule that gives series the metric's name; "" if none does.
  std::string rule;                 // "config.yaml:12"
  std::string series;               // "http_requests_total"
  std::vector<std::string> labels;  // of that series
  std::string wanted;        // the resource that it is asked for: "pods"; "" for an external one
  std::string object_label;  // label of that resource; "" if the rule has none
  std::string namespace_label;
  std::vector<std::string> made_for;  // resources that have the metric, if `wanted` does not
  std::vector<std::string> similar;   // existing names, if this one does not exist

  // The query and its result.
  std::string promql;
  absl::Status asked;  // of making the query and sending it
  size_t samples = 0;

  // The values of the labels, which may show why there is no sample. Limited in number.
  bool joined = false;                  // the fields below have been read
  std::vector<std::string> namespaces;  // values of namespace_label in the series
  std::vector<std::string> objects;     // values of object_label within the namespace
  size_t objects_that_exist = 0;        // how many of these the target has
  std::string better_label;             // another label whose values are such objects
};

struct MetricFacts {
  scaler::MetricSpec spec;
  bool in_process = false;     // the scaler asks the rules itself, without the metrics API
  std::optional<bool> listed;  // whether discovery has the metric; nullopt: discovery failed
  absl::StatusOr<std::vector<MetricItem>> answer;
  absl::StatusOr<Walk> walk = absl::UnknownError("not walked");  // set if the answer is not good
};

// The pods that the metric is about.
struct MeasuredPods {
  std::string ns;
  std::string selector;
  std::vector<scaler::Pod> pods;
};

Findings CheckMetric(const MetricFacts& facts, const MeasuredPods& measured, absl::Time now);

// Whether the containers have the requests that a target of type Utilization needs.
Findings CheckRequests(const scaler::MetricSpec& spec, const MeasuredPods& measured);

// The first broken link of the chain.
Finding BrokenLink(const std::string& title, const Walk& walk, const MeasuredPods& measured);

// In which version the cluster's custom metrics are asked for: the preferred one of the group, or
// v1beta2 where that is not known.
std::string CustomMetricsVersion(kube::ApiClient& api);

// The path of the metric in its API.
//   kNotFound         the cluster does not know the kind of the described object
//   kInvalidArgument  the metric's type is unknown
absl::StatusOr<std::string> MetricPath(const scaler::MetricSpec& spec, absl::string_view ns,
                                       absl::string_view pod_selector,
                                       absl::string_view custom_version,
                                       const kube::RestMapper& mapper);

class MetricLooker {
 public:
  struct Deps {
    kube::ApiClient& api;
    const kube::RestMapper& mapper;
    const Discovered* discovered = nullptr;   // nullptr: there are no rules to follow
    adapter::MetricSource* source = nullptr;  // nullptr: the same
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
