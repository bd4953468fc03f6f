// flyball diff: what differs between two rule files.
#include <CLI/CLI.hpp>
#include <string>

#include "cmd/flags/words.h"
#include "cmd/flyball/commands.h"
#include "cmd/flyball/rule_files.h"
#include "rule_tools/rule_diff.h"

namespace flyball::cmd {

int RunDiff(const Args& args) {
  CLI::App app(
      "Tells what differs between two files with rules, rule by rule: rule files, ConfigMaps, or "
      "values of the Helm chart of flyball or prometheus-adapter, in any mixture.",
      "flyball diff");
  std::string was, is, path, output = "text";
  app.add_option("old", was, "The rules as they were; - is standard input")
      ->required()
      ->type_name("OLD|-");
  app.add_option("new", is, "The rules as they are")->required()->type_name("NEW|-");
  AddValuesPath(app, path);
  AddOutput(app, output, {"text", "json", "yaml"});
  app.footer(ExitStatuses("the rules differ"));
  if (const auto ended = Parse(app, args)) return *ended;
  const absl::StatusOr<rules::FoundRules> old_rules = ReadRuleFile(was, path);
  const absl::StatusOr<rules::FoundRules> new_rules = ReadRuleFile(is, path);
  for (const auto* read : {&old_rules, &new_rules}) {
    if (!read->ok()) Fail("diff", read->status());
  }
  if (!old_rules.ok() || !new_rules.ok()) return kUsageError;
  const rule_tools::RulesDiff diff = rule_tools::DiffRules(old_rules->config, new_rules->config);
  const int printed =
      Print(output == "text"
                ? rule_tools::DiffText(diff, was == "-" ? "stdin" : was, is == "-" ? "stdin" : is)
                : JsonAs(output, rule_tools::DiffJson(diff)));
  return diff.differences.empty() ? printed : 1;
}

}  // namespace flyball::cmd
