// Numbers of things and lists of names, for people.
//
// Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace flyball {

// "1 rule", "3 rules": the noun's plural is made by an s.
inline std::string Counted(size_t number, absl::string_view noun) {
  return absl::StrCat(number, " ", noun, number == 1 ? "" : "s");
}

// "web-a, web-b and 3 more": no more than `most` of the names.
inline std::string Shortened(const std::vector<std::string>& names, size_t most) {
  if (names.size() <= most) return absl::StrJoin(names, ", ");
  return absl::StrCat(absl::StrJoin(absl::MakeConstSpan(names).first(most), ", "), " and ",
                      names.size() - most, " more");
}

}  // namespace flyball
