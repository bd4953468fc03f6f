// The computations of the functions in promql/functions.h: on one value at a time, on labels, and
// on one series over a window (rate, increase, avg_over_time and the like).
//
// Pure. Source: Prometheus 2.42.0 and 3.15.0 promql/functions.go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/go/regexp.h"
#include "promql/dialect.h"
#include "promql/engine/interruption.h"
#include "promql/engine/query_memory.h"
#include "promql/engine/value.h"

namespace flyball::promql {

// abs, exp, sin, …; and minute, year, … of seconds since the epoch. nullptr: another kind.
using ValueFunction = double (*)(double);
ValueFunction FindMathFunction(absl::string_view name);
ValueFunction FindDateFunction(absl::string_view name);

// Halves are rounded up; `nearest` 0 gives NaN.
double Round(double value, double nearest);

// Sorts by value, with NaN last in both directions.
void SortByValue(Vector* vector, bool descending);

// The longest label value that these functions make, since nested calls could double a value again
// and again. Prometheus has no such limit.
inline constexpr size_t kMaxLabelValueBytes = 64 << 10;

// `args`: the texts after the vector; `regex`: the pattern among them, compiled. They add to
// `grown_by` the bytes by which label sets become longer. Errors beyond those of `work` and
// `memory`:
//   kFailedPrecondition  a name that is no label's, or a value longer than kMaxLabelValueBytes
absl::Status LabelReplace(absl::Span<const std::string> args, const go::Regexp& regex,
                          Dialect dialect, WorkMeter& work, QueryMemory& memory, Vector* vector,
                          size_t* grown_by);
absl::Status LabelJoin(absl::Span<const std::string> args, Dialect dialect, WorkMeter& work,
                       QueryMemory& memory, Vector* vector, size_t* grown_by);

// `[A-Za-z_][A-Za-z0-9_]*` in dialect 2; any UTF-8 text but the empty one in dialect 3.
bool IsLabelName(absl::string_view name, Dialect dialect);

// histogram_quantile over the classic buckets in `buckets`, grouped by their labels but `le`.
Vector HistogramQuantile(double q, const Vector& buckets, Dialect dialect);
// histogram_fraction over the same buckets, as in dialect 3: the part of them between two bounds.
Vector HistogramFraction(double lower, double upper, const Vector& buckets);

// ---- of a window (range_functions.cc) -----------------------------------------------------------

struct WindowArgs {
  absl::Span<const Point> points;  // rising times, no staleness markers, at least one
  int64_t start_ms = 0;            // of the window
  int64_t end_ms = 0;
  int64_t now_ms = 0;  // the moment of evaluation
  Dialect dialect = Dialect::k3;
  // The scalar arguments: quantile_over_time's q, predict_linear's seconds, the smoothing factors.
  double first = 0;
  double second = 0;
};

// nullopt: no result for this series, for example with too few samples.
using RangeFunction = std::optional<double> (*)(const WindowArgs&);

// nullptr: not a function of a window, or one that needs several series (absent_over_time).
RangeFunction FindRangeFunction(absl::string_view name);

}  // namespace flyball::promql
