// One query for what two say: the samples of one, of the objects of which the other has samples as
// well.
//
// Pure. Both queries are instant vectors that tell objects apart by the same label (query_shape.h).
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace flyball::rules {

// The samples of `wanted` under those values of `label` under which `other` has samples, none of
// them without a count of thousandths: none is NaN, unless that is a number here, and none is 2^63
// thousandths or more. What is below zero counts as zero. Order and labels are those of `wanted`.
std::string JoinedQuery(absl::string_view wanted, absl::string_view other, absl::string_view label,
                        bool nan_is_number);

}  // namespace flyball::rules
