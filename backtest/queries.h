// The PromQL for each metric of an autoscaler, by the rules that serve the metric. The total is the
// sum of the query's samples.
//
// Pure. It is not known which pods existed, so the target's pods are found by a pattern for the
// names that their controller gives them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "adapter/series_registry.h"
#include "kube/objects/rest_mapping.h"
#include "rules/compiled_rules.h"
#include "scaler/spec/autoscaler.h"

namespace flyball::backtest {

// "pods metric http_requests_per_second", "resource cpu": for messages and --query.
std::string MetricTitle(const scaler::MetricSpec& metric);

struct QuerySources {
  const rules::CompiledRules& rules;
  const adapter::SeriesRegistry& registry;  // of those rules
  const kube::RestMapper& mapper;
  // Queries that replace those of the rules, by the name of the metric or resource.
  const std::map<std::string, std::string>& given;
};

// One query for each metric, in order. kNotFound: no rule makes it; the message says what to do.
std::vector<absl::StatusOr<std::string>> TotalQueries(const scaler::Autoscaler& autoscaler,
                                                      const QuerySources& sources);

}  // namespace flyball::backtest
