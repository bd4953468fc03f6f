// What `flyball check rules` found, as programs read it. Pure.
#pragma once

#include <string>
#include <vector>

#include "rules/config.h"

namespace flyball::cmd {

// The rules of one place of a file.
struct CheckedRules {
  std::string file;
  std::string of;  // "ConfigMap monitoring/flyball, config.yaml"; "": the file itself
  bool ok = false;
  size_t rules = 0, external_rules = 0;
  bool resource_rules = false;
  std::vector<rules::Finding> findings = {};
};

enum class ReportFormat { kText, kJson, kYaml, kSarif, kGithub };

// `path.yaml: ok: 2 rules, …`, and a line for each finding in ErrorLines.
std::string GoodLines(const std::vector<CheckedRules>& checked);
std::string ErrorLines(const std::vector<CheckedRules>& checked);

// {"files": [{"file", "ok", "rules", …, "findings": [{"severity", "line", …}]}], "errors",
// "warnings"}.
std::string JsonReport(const std::vector<CheckedRules>& checked);
std::string YamlReport(const std::vector<CheckedRules>& checked);
// SARIF 2.1.0, which code hosts and editors take.
std::string SarifReport(const std::vector<CheckedRules>& checked);
// Workflow commands of GitHub Actions: `::error file=…,line=…,col=…::…`.
std::string GithubReport(const std::vector<CheckedRules>& checked);

}  // namespace flyball::cmd
