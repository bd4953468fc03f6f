// `flyball query METRIC`: a metric of the cluster as an autoscaler would get it.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "cmd/flags/cluster_flags.h"
#include "http/client/transport.h"

namespace flyball::cmd {

struct MetricQuestion {
  std::string metric;
  std::string object = "pods/*";  // for a custom metric: RESOURCE/NAME, or RESOURCE for all of them
  std::string selector;           // over the metric's labels
  std::string ns;
  bool rule = false;  // whether to show the rule that makes it
  bool json = false;  // the API's answer unchanged, instead of the table
};

// A line for each value, below one that names the API and the question. If there is no custom
// metric of that name the external one is shown.
//   kNotFound  neither API has the metric; the message has the answers of both
absl::StatusOr<std::string> AnswerMetric(http::HttpTransport& server,
                                         const MetricQuestion& question);

// The paths that are requested, in this order. Pure.
std::string CustomMetricPath(const MetricQuestion& question, const std::string& version);
std::string ExternalMetricPath(const MetricQuestion& question);

// The rules that make a metric of that name, from /debug/rules: a line for each rule, and below it
// the PromQL of a query that failed. Pure.
absl::StatusOr<std::string> RulesOfMetric(absl::string_view rules_json, const std::string& metric);

// The output of `flyball metrics`, from /debug/rules: a line for each metric with its rule. Pure.
absl::StatusOr<std::string> MetricsTable(absl::string_view rules_json);

}  // namespace flyball::cmd
