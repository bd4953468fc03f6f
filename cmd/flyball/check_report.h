// The results of `flyball check rules` in its output formats. Pure.
#pragma once

#include <string>
#include <vector>

#include "rules/config.h"

namespace flyball::cmd {

// The rules at one place in a file.
struct CheckedRules {
  std::string file;
  std::string of;  // the place: "ConfigMap monitoring/flyball, config.yaml"; "": the whole file
  bool ok = false;
  size_t rules = 0, external_rules = 0;
  bool resource_rules = false;
  std::vector<rules::Finding> findings = {};
};

enum class ReportFormat { kText, kJson, kYaml, kSarif, kGithub };

// Text: GoodLines has `path.yaml: ok: 2 rules, …`, ErrorLines a line for each finding.
std::string GoodLines(const std::vector<CheckedRules>& checked);
std::string ErrorLines(const std::vector<CheckedRules>& checked);

// {"files": [{"file", "ok", "rules", …, "findings": [{"severity", "line", …}]}], "errors",
// "warnings"}.
std::string JsonReport(const std::vector<CheckedRules>& checked);
std::string YamlReport(const std::vector<CheckedRules>& checked);
// SARIF 2.1.0, which code hosts and editors read.
std::string SarifReport(const std::vector<CheckedRules>& checked);
// Workflow commands of GitHub Actions: `::error file=…,line=…,col=…::…`.
std::string GithubReport(const std::vector<CheckedRules>& checked);

}  // namespace flyball::cmd
