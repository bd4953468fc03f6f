// Reports the differences between two rule files, as text or for other programs. Pure.
#pragma once

#include <string>

#include "rule_tools/rule_diff.h"

namespace flyball::rule_tools {

// For people; `was` and `is` are the names of the files. Ends with a line of counts.
std::string DiffText(const RulesDiff& diff, const std::string& was, const std::string& is);
// For programs: {"differences": […], "same": n}.
std::string DiffJson(const RulesDiff& diff);

}  // namespace flyball::rule_tools
