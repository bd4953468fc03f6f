// What a back-test came to, as text and as JSON. Pure.
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
  std::vector<std::string> metrics;  // what each was made of: its title and PromQL, or the gap
  std::vector<std::string> notes;    // what a reader has to know about the figures
  std::optional<double> replica_hours_then;  // of the replicas that there really were
  Simulated simulated;
};

// `all`: every change, not the last twenty alone.
std::string ReportText(const BacktestReport& report, bool all);
std::string ReportJson(const BacktestReport& report);

}  // namespace flyball::backtest
