// Reads past load from a metric source and simulates an autoscaler's decisions on it.
//
// Blocks. It sends one query for each metric and moment, several at once.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "adapter/queries/metric_source.h"
#include "backtest/report.h"
#include "backtest/simulation.h"

namespace flyball::backtest {

// Moments are `step` apart, the first at `begin`, none at or after `end`.
struct Period {
  absl::Time begin, end;
  absl::Duration step;
};

inline constexpr int64_t kMaxMoments = 200'000;

// kInvalidArgument: the period has no moment or too many, or its step is too short.
absl::Status CheckPeriod(const Period& period);

// `queries` ask for the totals (queries.h); a metric without a query is unknown at every moment.
// The simulation begins with the replicas that there really were, if the source knows them.
//   kNotFound          no metric has a query; the message has the reason for each one
//   kInvalidArgument   the source refuses a query
//   kUnavailable       the source does not answer
absl::StatusOr<BacktestReport> BacktestOf(const SimulationInput& input,
                                          const std::vector<absl::StatusOr<std::string>>& queries,
                                          const Period& period, adapter::MetricSource& source);

}  // namespace flyball::backtest
