// A failed query of a rule, for messages and /debug/rules. Plain values.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace flyball::adapter {

// A rule by its list and its place there, as messages call it: rules[3].
struct RuleName {
  absl::string_view list;  // "rules" or "externalRules"
  int index = 0;
};

struct RuleFailure {
  uint64_t in_all = 0;
  uint64_t in_a_row = 0;  // 0 once a query has succeeded again
  std::string metric;     // of the last one
  std::string promql;     // its first LastAnswer::kMaxPromql bytes; "" if none could be made
  std::string error;
  absl::Time at;
};

}  // namespace flyball::adapter
