// Which PromQL tells the total of each metric of an autoscaler, by the rules that serve it.
//
// Pure. What pods there were then is not known: the pods of the target are told by how their
// controller names them.
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
  // By the name of a metric or resource: what is asked instead.
  const std::map<std::string, std::string>& given;
};

// One for each metric, in order. kNotFound: no rule makes it; the text says what to do.
std::vector<absl::StatusOr<std::string>> TotalQueries(const scaler::Autoscaler& autoscaler,
                                                      const QuerySources& sources);

}  // namespace flyball::backtest
