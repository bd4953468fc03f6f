// Reads the load of a time that is over from a metric source, and decides over it.
//
// Blocks; asks at each moment once for each metric, several at once.
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

// kInvalidArgument: there is no moment in it, or there are too many.
absl::Status CheckPeriod(const Period& period);

// `queries` tell the totals (queries.h); a metric without one is unknown all the time. The count
// that the autoscaler begins with is the one that there was, if the source knows it.
//   kNotFound          no metric has a query: the text has each one's reason
//   kInvalidArgument   the source refuses a query
//   kUnavailable       the source does not answer
absl::StatusOr<BacktestReport> BacktestOf(const SimulationInput& input,
                                          const std::vector<absl::StatusOr<std::string>>& queries,
                                          const Period& period, adapter::MetricSource& source);

}  // namespace flyball::backtest
