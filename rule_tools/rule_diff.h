// Compares two rule files, rule by rule and field by field.
//
// Pure. rule_pairing.h decides which rule of the old file corresponds to which of the new one;
// those without a counterpart are gone or new. Texts are compared as written: a default that is
// spelled out is a difference.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "rules/config.h"

namespace flyball::rule_tools {

struct FieldDifference {
  std::string field;                         // "resources.overrides.pod"
  std::optional<std::string> before, after;  // absent: the field is not set
};

struct RuleDifference {
  // kMoved: only its place among the rules has changed, which matters since the last of the rules
  // that make one name counts.
  enum class Kind { kGone, kNew, kChanged, kMoved };
  // Where the rule stands in a file: index in its list, line in the file.
  struct At {
    size_t index = 0;
    int line = 0;
  };
  Kind kind = Kind::kChanged;
  std::string list;           // "rules", "externalRules", "resourceRules"
  std::optional<At> was, is;  // absent: not in that file
  std::string series;         // its seriesQuery, the old one if it is gone; "" of resourceRules
  std::vector<FieldDifference> fields;  // kMoved: none
};

struct RulesDiff {
  std::vector<RuleDifference> differences;  // list by list: gone, then in the order of the new file
  size_t same = 0;                          // number of unchanged rules
};

RulesDiff DiffRules(const rules::Config& before, const rules::Config& after);

// For people (rule_diff_report.cc); `was` and `is` are the names of the files. Ends with a line of
// counts.
std::string DiffText(const RulesDiff& diff, const std::string& was, const std::string& is);
// For programs: {"differences": […], "same": n}.
std::string DiffJson(const RulesDiff& diff);

}  // namespace flyball::rule_tools
