// Puts many series in the order of their labels.
//
// Pure. The labels of one metric's series begin alike and differ in a few bytes, so they are not
// compared one by one: what all of a run have in common is skipped, the next eight bytes put them
// in order as numbers, and those that are still equal are runs of their own.
#pragma once

#include <memory>
#include <vector>

#include "promql/engine/series.h"

namespace flyball::live {

using SeriesList = std::vector<std::shared_ptr<const promql::Series>>;

// No two have the same labels.
void SortByLabels(SeriesList& series);

}  // namespace flyball::live
