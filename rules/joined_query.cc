#include "rules/joined_query.h"

#include "absl/strings/str_cat.h"

namespace flyball::rules {

std::string JoinedQuery(absl::string_view wanted, absl::string_view other, absl::string_view label,
                        bool nan_is_number) {
  // A comparison with NaN is false. The product is what the count is made of, rounding included.
  const absl::string_view each = nan_is_number ? "max" : "min";
  const absl::string_view compared = nan_is_number ? ">=" : "<";
  const int none = nan_is_number ? 0 : 1;
  return absl::StrCat("(", wanted, ") and on (", label, ") (", each, " by (", label, ") ((", other,
                      ") * 1000 ", compared, " bool 9223372036854775808) == ", none, ")");
}

}  // namespace flyball::rules
