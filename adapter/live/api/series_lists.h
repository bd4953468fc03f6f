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
#include "promql/engine/query_memory.h"
#include "promql/engine/series.h"

namespace flyball::live {

struct ListLimits {
  size_t max_match = 16;                 // selectors
  size_t max_selector_bytes = 64 << 10;  // of the text of each
  size_t max_answer_bytes = size_t{32} << 20;
  promql::QueryMemory& memory;
  size_t limit = 0;  // the most items to return; 0: no limit
  promql::Interrupted interrupted = {};
};

// kResourceExhausted.
absl::Status AnswerTooLong(size_t max_bytes);

// The series that match any of the selectors and have a sample between these times.
struct SeriesChoice {
  std::vector<promql::Selector> selectors;  // none: all series
  bool any_time = true;
  int64_t from_ms = 0, to_ms = 0;
};

// kInvalidArgument: an invalid parameter, or too many or too long selectors.
absl::StatusOr<SeriesChoice> SeriesChoiceOf(const Form& form, promql::Dialect dialect,
                                            const ListLimits& limits);

// The label that a path names. Dialect 3 also reads the form that has only letters, digits and `_`:
// U__ and the name, in which `__` is `_` and `_2e_` is the character with that hexadecimal code.
// kInvalidArgument: it is no name of a label.
absl::StatusOr<std::string> LabelNamed(const std::string& written, promql::Dialect dialect);

// A JSON array, sorted by the series, names or values, without duplicates.
struct JsonList {
  std::string json;
  bool truncated = false;  // there are more than `limit`
};

// Errors of all three, beyond those of `limits.interrupted`:
//   kInvalidArgument    a list of series without a selector
//   kResourceExhausted  the items together are too long, or take more memory than they may
absl::StatusOr<JsonList> ListSeries(const SeriesChoice& choice, const promql::SeriesReader& store,
                                    const ListLimits& limits);
absl::StatusOr<JsonList> ListLabelNames(const SeriesChoice& choice,
                                        const promql::SeriesReader& store,
                                        const ListLimits& limits);
absl::StatusOr<JsonList> ListLabelValues(absl::string_view label, const SeriesChoice& choice,
                                         const promql::SeriesReader& store,
                                         const ListLimits& limits);

}  // namespace flyball::live
