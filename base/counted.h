// "1 rule", "3 rules": a number and what is counted, for people.
//
// Pure. The noun's plural is made by an s.
#pragma once

#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace flyball {

inline std::string Counted(size_t number, absl::string_view noun) {
  return absl::StrCat(number, " ", noun, number == 1 ? "" : "s");
}

}  // namespace flyball
