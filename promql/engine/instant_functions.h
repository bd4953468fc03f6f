// Functions of one value at a time, and those that rewrite labels.
//
// Pure. Source: Prometheus 3.15.0 promql/functions.go.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "promql/engine/value.h"

namespace flyball::promql {

// abs, exp, sin, …; and minute, year, … of seconds since the epoch. nullptr: another kind.
using ValueFunction = double (*)(double);
ValueFunction FindMathFunction(absl::string_view name);
ValueFunction FindDateFunction(absl::string_view name);

// Halves go up; `nearest` 0 gives NaN.
double Round(double value, double nearest);
// Go's math.Max and math.Min: NaN if either side is, unless the other is the winning infinity.
double GoMax(double a, double b);
double GoMin(double a, double b);

// By value, NaN last in both directions.
void SortByValue(Vector* vector, bool descending);

// `args`: the texts after the vector.
//   kFailedPrecondition  the pattern is no RE2, or a name no label's
absl::Status LabelReplace(absl::Span<const std::string> args, Vector* vector);
absl::Status LabelJoin(absl::Span<const std::string> args, Vector* vector);

// Any UTF-8 text but the empty one.
bool IsLabelName(absl::string_view name);

// histogram_quantile over the classic buckets in `buckets`, grouped by their labels but `le`.
Vector HistogramQuantile(double q, const Vector& buckets);

}  // namespace flyball::promql
