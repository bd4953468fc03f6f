// Which fields of the data a template asks for, read off its tree.
//
// Pure. Nothing is executed, so a field that is asked for in a branch that is never taken counts.
#pragma once

#include <set>
#include <string>

#include "absl/types/span.h"
#include "rules/query_template.h"

namespace flyball::rules {

struct FieldUse {
  std::set<std::string> known;    // of those that the data has
  std::set<std::string> unknown;  // others, asked of the data itself: such an action fails
  bool whole = false;             // the data is used as a whole, by `.` or `$`
};

// `fields`: what the data has.
FieldUse FieldsOf(const QueryTemplate& query, absl::Span<const absl::string_view> fields);

}  // namespace flyball::rules
