// flyball check: checks files before they are used.
#include <CLI/CLI.hpp>
#include <iostream>
#include <utility>

#include "absl/strings/str_split.h"
#include "base/read_file.h"
#include "cmd/flags/words.h"
#include "cmd/flyball/check_report.h"
#include "cmd/flyball/commands.h"
#include "cmd/flyball/rule_files.h"
#include "rules/rule_source.h"

namespace flyball::cmd {
namespace {

using rules::Finding;

bool Fails(const Finding& finding, bool strict) {
  return strict || finding.severity != Finding::Severity::kWarning;
}

CheckedRules Check(const std::string& file, rules::FoundRules found, const CheckOptions& options) {
  CheckedRules out = {.file = file, .of = std::move(found.of)};
  if (found.compiled.rules != nullptr) {
    out.rules = found.compiled.rules->custom.size();
    out.external_rules = found.compiled.rules->external.size();
    out.resource_rules = found.compiled.rules->resource.has_value();
  }
  out.findings = std::move(found.compiled.findings);
  out.ok = found.compiled.rules != nullptr;
  for (Finding& finding : out.findings) {
    if (options.metricsql && finding.severity == Finding::Severity::kQuery) {
      finding.severity = Finding::Severity::kWarning;
    }
    out.ok &= !Fails(finding, options.strict);
  }
  return out;
}

}  // namespace

int CheckRules(const CheckOptions& options, std::ostream& out, std::ostream& err) {
  std::vector<CheckedRules> checked;
  bool all_read = true, good = true;
  for (const std::string& path : options.files) {
    const std::string name = path == "-" ? "stdin" : path;
    const auto text = ReadFileOrStdin(path);
    if (!text.ok()) {
      err << text.status().message() << ", expected a rule file\n";
      all_read = false;
      continue;
    }
    for (rules::FoundRules& found : rules::FindRules(*text, name, options.values_path)) {
      checked.push_back(Check(name, std::move(found), options));
      good &= checked.back().ok;
    }
  }
  if (options.format == "text") {
    err << ErrorLines(checked);
    out << GoodLines(checked) << std::flush;
  } else {
    out << ReportAs(options.format, checked) << std::flush;
  }
  if (!all_read) return kUsageError;
  return good && out.good() ? 0 : 1;
}

int RunCheck(const Args& args) {
  CLI::App app("Checks files before they are used.", "flyball check");
  app.require_subcommand(1);
  CheckOptions options;
  std::string path;
  CLI::App* const rules = app.add_subcommand(
      "rules",
      "Read rule files as the server does, fill in each query and parse it as Prometheus does; "
      "print every error and warning. A file may also be a ConfigMap that holds one, or the values "
      "of the Helm chart of flyball or prometheus-adapter");
  rules->footer(ExitStatuses("a file has errors (with --strict: or warnings)"));
  AddFiles(*rules, options.files, "Rule files; - is standard input");
  rules->add_flag("--strict", options.strict, "Fail on warnings too");
  rules->add_flag("--metricsql", options.metricsql,
                  "The server is VictoriaMetrics: what Prometheus would refuse is a warning");
  AddValuesPath(*rules, path);
  AddOutput(*rules, options.format, {"text", "json", "yaml", "sarif", "github"});
  if (const auto ended = Parse(app, args)) return *ended;
  if (!path.empty()) options.values_path = absl::StrSplit(path, '.');
  return CheckRules(options, std::cout, std::cerr);
}

}  // namespace flyball::cmd
