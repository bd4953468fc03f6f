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

// `path.yaml: ok: 2 rules, …` for each that is ok.
std::string GoodLines(const std::vector<CheckedRules>& checked);
// A line for each finding.
std::string ErrorLines(const std::vector<CheckedRules>& checked);

// For programs, in one of these formats:
//   json, yaml  {"files": [{"file", "ok", "rules", …, "findings": [{"severity", "line", …}]}],
//               "errors", "warnings"}
//   sarif       SARIF 2.1.0, which code hosts and editors read
//   github      workflow commands of GitHub Actions: `::error file=…,line=…,col=…::…`
std::string ReportAs(const std::string& format, const std::vector<CheckedRules>& checked);

}  // namespace flyball::cmd
