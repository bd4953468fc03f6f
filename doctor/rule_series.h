// What a rule file finds in Prometheus now, rule by rule.
//
// DiscoverSeries asks, one query after the other and once for equal ones; the check is pure.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "adapter/queries/metric_source.h"
#include "adapter/series_registry.h"
#include "doctor/finding.h"
#include "kube/objects/rest_mapping.h"
#include "rules/compiled_rules.h"

namespace flyball::doctor {

struct RuleFacts {
  std::string where;  // "config.yaml:12"
  std::string series_query;
  absl::Status status = {};  // of the series query
  size_t found = 0;          // how many series it gives now
  size_t accepted = 0;       // how many of them seriesFilters and name.matches let through
  size_t earlier = 0;        // how many it gave in the last day; asked only when it gives none now
};

struct Discovered {
  absl::Status source;  // whether Prometheus answers at all; nothing else is asked when it does not
  absl::Duration max_age;
  std::vector<RuleFacts> rules;  // `rules` before `externalRules`
  std::vector<adapter::DiscoveredRule> custom, external;
  std::shared_ptr<const adapter::SeriesRegistry> registry;  // nullptr when `source` is not OK
};

struct DiscoverOptions {
  absl::Time now;
  absl::Duration max_age = absl::Minutes(10);
  absl::Duration timeout = absl::Seconds(10);  // of each query
};

Discovered DiscoverSeries(const rules::CompiledRules& rules, adapter::MetricSource& source,
                          std::shared_ptr<const kube::RestMapper> mapper,
                          const DiscoverOptions& options);

// `from`: which Prometheus, without credentials. `strict`: a rule that finds nothing is bad; else
// it is only doubtful, as another autoscaler's matter.
Findings CheckDiscovered(const Discovered& discovered, absl::string_view from, bool strict);

}  // namespace flyball::doctor
