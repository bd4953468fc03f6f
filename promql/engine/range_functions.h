// Functions of one series over a window: rate, increase, avg_over_time and their kin.
//
// Pure. Source: Prometheus 3.15.0 promql/functions.go.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "promql/engine/series.h"

namespace flyball::promql {

struct WindowArgs {
  absl::Span<const Point> points;  // rising times, no staleness markers, at least one
  int64_t start_ms = 0;            // of the window
  int64_t end_ms = 0;
  int64_t now_ms = 0;  // the moment of evaluation
  // The scalar arguments: quantile_over_time's q, predict_linear's seconds, the smoothing factors.
  double first = 0;
  double second = 0;
};

// nullopt: no answer for this series, as too few samples.
using RangeFunction = std::optional<double> (*)(const WindowArgs&);

// nullptr: not a function of a window, or one that needs more than a series (absent_over_time).
RangeFunction FindRangeFunction(absl::string_view name);

}  // namespace flyball::promql
