// Checks which series the rules of a rule file find in Prometheus now.
//
// DiscoverSeries sends one query after the other, equal ones once; the check is pure.
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
  size_t found = 0;          // how many series it returns now
  size_t accepted = 0;       // how many of them seriesFilters and name.matches let through
  size_t earlier = 0;        // how many it returned in the last day; asked only if `found` is 0
};

struct Discovered {
  absl::Status source;  // whether Prometheus answers at all; if not, nothing else is asked
  absl::Duration max_age;
  std::vector<RuleFacts> rules;  // `rules` before `externalRules`
  std::vector<adapter::DiscoveredRule> custom, external;
  std::shared_ptr<const adapter::SeriesRegistry> registry;  // nullptr if `source` is not OK
};

struct DiscoverOptions {
  absl::Time now;
  absl::Duration max_age = absl::Minutes(10);
  absl::Duration timeout = absl::Seconds(10);  // for each query
};

Discovered DiscoverSeries(const rules::CompiledRules& rules, adapter::MetricSource& source,
                          std::shared_ptr<const kube::RestMapper> mapper,
                          const DiscoverOptions& options);

// `from` is the address of Prometheus without credentials. With `strict` a rule that finds nothing
// is bad; else it is doubtful, since the autoscaler that is examined may not need it, or the
// server's live source may find what Prometheus does not.
Findings CheckDiscovered(const Discovered& discovered, absl::string_view from, bool strict);

}  // namespace flyball::doctor
