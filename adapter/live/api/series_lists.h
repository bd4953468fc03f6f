// Which series, label names and values of labels there are, as JSON.
//
// Pure but for the store that is read. Source: Prometheus 3.15.0 web/api/v1 (series, labelNames,
// labelValues).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "adapter/live/api/form.h"
#include "promql/ast.h"
#include "promql/dialect.h"
#include "promql/engine/series.h"

namespace flyball::live {

// Those that any of the selectors matches, and that have a sample at those times.
struct SeriesChoice {
  std::vector<promql::Selector> selectors;  // none: all series
  bool any_time = true;
  int64_t from_ms = 0, to_ms = 0;
};

// kInvalidArgument: a parameter that says nothing sensible.
absl::StatusOr<SeriesChoice> SeriesChoiceOf(const Form& form, promql::Dialect dialect);

// Values of JSON, sorted by what they are of, none twice.
using JsonItems = std::vector<std::string>;

// kInvalidArgument: no selector.
absl::StatusOr<JsonItems> ListSeries(const SeriesChoice& choice, const promql::SeriesReader& store);
JsonItems ListLabelNames(const SeriesChoice& choice, const promql::SeriesReader& store);
JsonItems ListLabelValues(absl::string_view label, const SeriesChoice& choice,
                          const promql::SeriesReader& store);

}  // namespace flyball::live
