// The values of a series as promtool's test files write them: `0+10x20`, `1 2 _ 4 stale`.
//
// Pure. Source: Prometheus 2.42.0 promql/parser, series descriptions:
//   a+bxn   a, a+b, … a+n·b: n+1 values (a-bxn falls); axn: a, n+1 times
//   _       no sample; _xn: n times
//   stale   a staleness marker
// Limit: 100,000 values in all. Native histograms (`{{…}}`) are refused by name.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace flyball::promql {

// nullopt: no sample at that interval. kInvalidArgument names the item that is wrong.
absl::StatusOr<std::vector<std::optional<double>>> ParseSeriesValues(absl::string_view text);

}  // namespace flyball::promql
