#include "rules/joined_query.h"

#include "absl/strings/str_cat.h"

namespace flyball::rules {

std::string JoinedQuery(absl::string_view wanted, absl::string_view other, absl::string_view label,
                        bool nan_is_number) {
  // A comparison with NaN is false. Thousandths are a double's product, as large as 2^63 from this
  // value on: the next one below is 2 less.
  const absl::string_view each = nan_is_number ? "max" : "min";
  const absl::string_view compared = nan_is_number ? ">=" : "<";
  const int none = nan_is_number ? 0 : 1;
  // Either query may end in a comment, which lasts until the end of its line.
  return absl::StrCat("(", wanted, "\n) and on (", label, ") (", each, " by (", label, ") ((",
                      other, "\n) ", compared, " bool 9223372036854776) == ", none, ")");
}

}  // namespace flyball::rules
