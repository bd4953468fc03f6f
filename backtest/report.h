// The result of a back-test, as text and as JSON. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "backtest/simulation.h"

namespace flyball::backtest {

struct BacktestReport {
  std::string title;  // "shop/web"
  absl::Time begin, end;
  absl::Duration step;
  std::vector<std::string> metrics;          // title and PromQL of each metric that has a query
  std::vector<std::string> notes;            // what readers must know about the figures
  std::optional<double> replica_hours_then;  // of the replicas that really existed
  Simulated simulated;
};

// `all`: with every change, not only the last twenty.
std::string ReportText(const BacktestReport& report, bool all);
std::string ReportJson(const BacktestReport& report);

}  // namespace flyball::backtest
