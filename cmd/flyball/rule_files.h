// Reads files with rules, for the commands that take exactly one place with rules.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "rules/rule_source.h"

namespace CLI {
class App;
}

namespace flyball::cmd {

// The rules of a text, already checked by compiling them. `values_path`: see rules::FindRules.
//   kInvalidArgument  the rules do not compile, and the message has all errors; or the text has
//                     rules in several places
absl::StatusOr<rules::FoundRules> OnlyRules(absl::string_view text, absl::string_view name,
                                            const std::vector<std::string>& values_path);
// Does the same for a file; "-" is standard input. `values_path` has the form of --path: keys
// separated by dots. A file that cannot be read is kInvalidArgument too.
absl::StatusOr<rules::FoundRules> ReadRuleFile(const std::string& path,
                                               const std::string& values_path);

// Adds --path, for the values of a parent chart.
void AddValuesPath(CLI::App& app, std::string& path);

}  // namespace flyball::cmd
