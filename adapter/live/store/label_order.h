// Sorts many series by their labels.
//
// Pure. The labels of one metric's series begin alike and differ in a few bytes, so they are not
// compared pair by pair: the common prefix of a run is skipped, the next eight bytes are compared
// as one number, and series that are still equal form runs of their own.
#pragma once

#include "absl/status/status.h"
#include "promql/engine/interruption.h"
#include "promql/engine/series.h"

namespace flyball::live {

// No two series have the same labels. Errors: those of `interrupted`; the order is then any.
absl::Status SortByLabels(promql::SeriesList& series,
                          const promql::Interrupted& interrupted = promql::Interrupted());

}  // namespace flyball::live
