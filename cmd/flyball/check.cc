#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "base/counted.h"
#include "base/read_file.h"
#include "cmd/flyball/commands.h"
#include "rules/compiled_rules.h"

namespace flyball::cmd {
namespace {

bool CheckFile(const std::string& path, bool strict, std::ostream& out, std::ostream& err) {
  const auto text = ReadFile(path);
  if (!text.ok()) {
    err << text.status().message() << ", expected a rule file\n";
    return false;
  }
  const rules::CompileResult result = rules::CompileRules(*text, path);
  for (const rules::Finding& finding : result.findings) err << finding.ToString() << "\n";
  if (result.rules == nullptr || (strict && !result.findings.empty())) return false;
  out << path << ": ok: " << Counted(result.rules->custom.size(), "rule") << ", "
      << Counted(result.rules->external.size(), "external rule")
      << (result.rules->resource ? ", resource rules" : "") << ", "
      << Counted(result.findings.size(), "warning") << "\n";
  return true;
}

}  // namespace

int CheckRules(const std::vector<std::string>& files, bool strict, std::ostream& out,
               std::ostream& err) {
  bool good = true;
  for (const std::string& file : files) good &= CheckFile(file, strict, out, err);
  return good ? 0 : 1;
}

int RunCheck(const Args& args) {
  CLI::App app("Check files before they are used", "flyball check");
  app.require_subcommand(1);
  std::vector<std::string> files;
  bool strict = false;
  CLI::App* const rules = app.add_subcommand(
      "rules", "Read rule files as the server does; print every error and warning");
  rules->add_flag("--strict", strict, "Fail on warnings too");
  rules->add_option("FILE", files, "Rule files")->required();
  if (const auto ended = Parse(app, args)) return *ended;
  return CheckRules(files, strict, std::cout, std::cerr);
}

}  // namespace flyball::cmd
