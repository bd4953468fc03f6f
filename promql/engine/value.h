// What evaluating an expression gives, and small helpers on label sets.
//
// Plain values. Times are int64 milliseconds since the epoch.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "promql/engine/series.h"
#include "promql/labels.h"

namespace flyball::promql {

// One series at the moment of evaluation.
struct Element {
  LabelSet labels;
  double value = 0;
};
using Vector = std::vector<Element>;

// One series over a window; its staleness markers are left out.
struct Range {
  LabelSet labels;
  std::vector<Point> points;
};

struct Matrix {
  std::vector<Range> series;
  // The window that was asked for, not the samples'.
  int64_t start_ms = 0;
  int64_t end_ms = 0;
};

// No two elements may have the same labels after a function or an operator (kFailedPrecondition).
absl::Status CheckDistinct(const Vector& vector);
absl::Status SameLabelSet();  // the error

using Value = std::variant<double, std::string, Vector, Matrix>;

// Label sets are sorted by name; "" and absent are the same.
void SetLabel(LabelSet* labels, absl::string_view name, absl::string_view value);
void DropLabel(LabelSet* labels, absl::string_view name);
inline void DropName(LabelSet* labels) { DropLabel(labels, "__name__"); }
// Only these labels (`without` false), or all others.
LabelSet PickLabels(const LabelSet& labels, const std::vector<std::string>& names, bool without);

}  // namespace flyball::promql
