// The results of evaluating an expression, and small helpers on labels.
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
  Labels labels;
  double value = 0;
};
using Vector = std::vector<Element>;

// One series over a window; its staleness markers are left out.
struct Range {
  Labels labels;
  std::vector<Point> points;
};

struct Matrix {
  std::vector<Range> series;
  // The window that was asked for, whatever samples it has.
  int64_t start_ms = 0;
  int64_t end_ms = 0;
};

// No two elements may have the same labels after a function or an operator (kFailedPrecondition).
absl::Status CheckDistinct(const Vector& vector);
absl::Status SameLabelSet();  // the error

using Value = std::variant<double, std::string, Vector, Matrix>;

// Its approximate memory, with the labels that it does not share.
size_t BytesOf(const Vector& vector);
size_t BytesOf(const std::vector<Range>& series);
size_t BytesOf(const Value& value);

// The same labels except for one; "" means absent.
Labels WithLabel(const Labels& labels, absl::string_view name, absl::string_view value);
inline Labels WithoutLabel(const Labels& labels, absl::string_view name) {
  return WithLabel(labels, name, "");
}
inline Labels WithoutName(const Labels& labels) { return WithoutLabel(labels, "__name__"); }

// The most memory of the keys by which the elements are grouped or matched (ChooseLabels).
size_t BytesOfKeys(const Vector& vector);

// The labels that a clause selects: by and on (`without` false) name those that count; without and
// ignoring those that do not, and the metric's name does not count either.
struct LabelChoice {
  const std::vector<std::string>& names;
  bool without = false;
};

// Writes those labels to `key`, in the form of Labels::encoded, to group and match elements by it.
void ChooseLabels(const Labels& labels, const LabelChoice& choice, std::string* key);

// The most steps of a WorkMeter for looking up so many names among the labels, as ChooseLabels
// does: each name is compared with each label.
size_t StepsOfNames(const Labels& labels, size_t names);

}  // namespace flyball::promql
