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
#include "adapter/value_guard.h"
#include "backtest/report.h"
#include "backtest/simulation.h"

namespace flyball::backtest {

// The first moment is at `begin`, the others follow at intervals of `step`; there are as many as
// whole steps fit before `end`.
struct Period {
  absl::Time begin, end;
  absl::Duration step;
};

inline constexpr int64_t kMaxMoments = 200'000;

// kInvalidArgument: the end is not after the beginning, the step is too short, or there are too
// many moments.
absl::Status CheckPeriod(const Period& period);

// `queries` ask for the samples of the totals (queries.h), and `values` says how a sample counts; a
// metric without a query is unknown at every moment. The simulation begins with the replicas that
// really existed, if the source knows them.
//   kNotFound          no metric has a query; the message has the reason for each one
//   kInvalidArgument   the source refuses a query
//   kUnavailable       the source does not answer
absl::StatusOr<BacktestReport> BacktestOf(const SimulationInput& input,
                                          const std::vector<absl::StatusOr<std::string>>& queries,
                                          const Period& period, adapter::MetricSource& source,
                                          adapter::ValueGuard& values);

}  // namespace flyball::backtest
