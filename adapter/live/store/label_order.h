// Sorts many series by their labels.
//
// Pure. The labels of one metric's series begin alike and differ in a few bytes, so they are not
// compared pair by pair: the common prefix of a run is skipped, the next eight bytes are compared
// as one number, and series that are still equal form runs of their own.
#pragma once

#include "promql/engine/series.h"

namespace flyball::live {

// No two series have the same labels.
void SortByLabels(promql::SeriesList& series);

}  // namespace flyball::live
