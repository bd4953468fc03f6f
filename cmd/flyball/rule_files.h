// Reading of files with rules, for the commands that take one place with rules and no more.
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

// The rules of a text, which compile. kInvalidArgument: they do not, the message has all errors; or
// there are several places with rules. `values_path`: see rules::FindRules.
absl::StatusOr<rules::FoundRules> OnlyRules(absl::string_view text, absl::string_view name,
                                            const std::vector<std::string>& values_path);
// The same of a file; "-" is standard input. `values_path` as --path has it, keys with dots between
// them. A file that cannot be read is kInvalidArgument too.
absl::StatusOr<rules::FoundRules> ReadRuleFile(const std::string& path,
                                               const std::string& values_path);

// --path, for the values of a chart around the chart.
void AddValuesPath(CLI::App& app, std::string& path);

}  // namespace flyball::cmd
