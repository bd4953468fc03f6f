// Lists series, label names and label values as JSON.
//
// Pure, except that the store is read. Source: Prometheus 3.15.0 web/api/v1 (series, labelNames,
// labelValues).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "adapter/live/api/form.h"
#include "promql/ast.h"
#include "promql/dialect.h"
#include "promql/engine/interruption.h"
#include "promql/engine/series.h"

namespace flyball::live {

struct ListLimits {
  size_t max_match = 16;                        // selectors
  size_t max_selector_bytes = 64 << 10;         // of the text of each
  size_t max_answer_bytes = size_t{32} << 20;  // of all items
  size_t limit = 0;  // at most one more item than this is returned; 0: no limit
  promql::Interrupted interrupted = {};
};

// kResourceExhausted.
absl::Status AnswerTooLong(size_t max_bytes);

// The series that any of the selectors matches and that have a sample between these times.
struct SeriesChoice {
  std::vector<promql::Selector> selectors;  // none: all series
  bool any_time = true;
  int64_t from_ms = 0, to_ms = 0;
};

// kInvalidArgument: an invalid parameter, or too many or too long selectors.
absl::StatusOr<SeriesChoice> SeriesChoiceOf(const Form& form, promql::Dialect dialect,
                                            const ListLimits& limits);

// JSON values, sorted by the series, name or value that they stand for, without duplicates.
using JsonItems = std::vector<std::string>;

// All three, beyond the errors of `limits.interrupted`:
//   kInvalidArgument    no selector, where it lists series
//   kResourceExhausted  the items are too long together
absl::StatusOr<JsonItems> ListSeries(const SeriesChoice& choice, const promql::SeriesReader& store,
                                     const ListLimits& limits);
absl::StatusOr<JsonItems> ListLabelNames(const SeriesChoice& choice,
                                         const promql::SeriesReader& store,
                                         const ListLimits& limits);
absl::StatusOr<JsonItems> ListLabelValues(absl::string_view label, const SeriesChoice& choice,
                                          const promql::SeriesReader& store,
                                          const ListLimits& limits);

}  // namespace flyball::live
