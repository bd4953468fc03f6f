#include "cmd/flyball/rule_files.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/read_file.h"

namespace flyball::cmd {

absl::StatusOr<rules::FoundRules> OnlyRules(absl::string_view text, absl::string_view name,
                                            const std::vector<std::string>& values_path) {
  std::vector<rules::FoundRules> found = rules::FindRules(text, name, values_path);
  if (found.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": it has rules in ", found.size(), " places, expected one"));
  }
  if (found[0].compiled.rules != nullptr) return std::move(found[0]);
  std::vector<std::string> errors;
  for (const rules::Finding& finding : found[0].compiled.findings) {
    if (finding.severity == rules::Finding::Severity::kError) errors.push_back(finding.ToString());
  }
  return absl::InvalidArgumentError(absl::StrJoin(errors, "\n"));
}

absl::StatusOr<rules::FoundRules> ReadRuleFile(const std::string& path,
                                               const std::string& values_path) {
  const absl::StatusOr<std::string> text = ReadFileOrStdin(path);
  if (!text.ok()) return absl::InvalidArgumentError(text.status().message());
  std::vector<std::string> keys;
  if (!values_path.empty()) keys = absl::StrSplit(values_path, '.');
  return OnlyRules(*text, path == "-" ? "stdin" : path, keys);
}

void AddValuesPath(CLI::App& app, std::string& path) {
  app.add_option("--path", path,
                 "The files are values of a parent chart: the key of the chart's values in them")
      ->type_name("KEY[.KEY…]");
}

}  // namespace flyball::cmd
