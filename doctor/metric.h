// One metric of an autoscaler: what the API answers for it and, when it fails, where the chain
// behind it breaks.
//
// The facts are plain values; the checks are pure. The looks (metric_look.cc) gather the facts: the
// metrics APIs are asked as the HPA controller does it, and a metric that fails is followed through
// its rule to Prometheus. They only read, block, and each of their calls ends within its timeout.
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

// The way from a metric's name through its rule to Prometheus, as far as it could be followed.
struct Walk {
  // Which rule gives series the metric's name; "" when none does.
  std::string rule;                 // "config.yaml:12"
  std::string series;               // "http_requests_total"
  std::vector<std::string> labels;  // of that series
  std::string wanted;        // the resource that it should be for: "pods"; "" of an external one
  std::string object_label;  // label of that resource; "" when the rule has none
  std::string namespace_label;
  std::vector<std::string> made_for;  // resources that the name exists for, when not for `wanted`
  std::vector<std::string> similar;   // names that there are, when this one is not

  // What is asked and answered.
  std::string promql;
  absl::Status asked;  // making the query and sending it
  size_t samples = 0;

  // Which values the labels have, to see why no sample came. Of many values only some are read.
  bool joined = false;                  // what follows has been read
  std::vector<std::string> namespaces;  // of namespace_label over the series
  std::vector<std::string> objects;     // of object_label within the namespace
  size_t objects_that_exist = 0;        // of these that are objects of the target
  std::string better_label;             // another label whose values are such objects
};

struct MetricFacts {
  scaler::MetricSpec spec;
  bool in_process = false;     // the scaler asks the rules itself, without the metrics API
  std::optional<bool> listed;  // whether discovery names the metric; nullopt: it was not readable
  absl::StatusOr<std::vector<MetricItem>> answer;
  absl::StatusOr<Walk> walk = absl::UnknownError("not walked");  // when the answer is no good
};

// The pods that the metric is about.
struct MeasuredPods {
  std::string ns;
  std::string selector;
  std::vector<scaler::Pod> pods;
};

Findings CheckMetric(const MetricFacts& facts, const MeasuredPods& measured, absl::Time now);

// Whether the containers have the requests that a utilisation is a share of.
Findings CheckRequests(const scaler::MetricSpec& spec, const MeasuredPods& measured);

// The first link of the chain that does not hold.
Finding BrokenLink(const std::string& title, const Walk& walk, const MeasuredPods& measured);

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
