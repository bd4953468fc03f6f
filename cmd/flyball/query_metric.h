// The live form of `flyball query`: a metric as an autoscaler would get it.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "cmd/flags/cluster_flags.h"
#include "http/client/transport.h"

namespace flyball::cmd {

struct MetricQuestion {
  std::string metric;
  std::string object = "pods/*";  // of a custom metric: RESOURCE/NAME, or RESOURCE for all of them
  std::string selector;           // of the metric
  std::string ns;
  bool rule = false;  // which one makes it is asked for too
  bool json = false;  // the API's answer as it is, instead of the table
};

// A line for each value, below one that names the API and what was asked for. The custom metric
// counts; where there is none the external one does.
//   kNotFound  neither API has the metric; the message is what each answers
absl::StatusOr<std::string> AnswerMetric(http::HttpTransport& server,
                                         const MetricQuestion& question);

// The paths that are asked for, in order. Pure.
std::string CustomMetricPath(const MetricQuestion& question, const std::string& version);
std::string ExternalMetricPath(const MetricQuestion& question);

// Which rules make a metric of that name, a line each, out of /debug/rules; the PromQL of a query
// that failed below it. Pure.
absl::StatusOr<std::string> RulesOfMetric(absl::string_view rules_json, const std::string& metric);

// What `flyball metrics` prints of /debug/rules: a line for each metric with its rule. Pure.
absl::StatusOr<std::string> MetricsTable(absl::string_view rules_json);

}  // namespace flyball::cmd
