// Puts many series in the order of their labels.
//
// Pure. The labels of one metric's series begin alike and differ in a few bytes, so they are not
// compared one by one: what all of a run have in common is skipped, the next eight bytes put them
// in order as numbers, and those that are still equal are runs of their own.
#pragma once

#include "promql/engine/series.h"

namespace flyball::live {

// No two have the same labels.
void SortByLabels(promql::SeriesList& series);

}  // namespace flyball::live
