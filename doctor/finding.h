// The doctor's report: sections of findings, each of them good, or doubtful or bad with its remedy.
//
// Plain values, and their two written forms. Pure. All text that comes from a cluster (messages,
// names) is written here, where control characters are escaped before they reach a terminal.
#pragma once

#include <string>
#include <vector>

namespace flyball::doctor {

enum class Level { kGood, kDoubtful, kBad };

struct Finding {
  Level level = Level::kGood;
  std::string check;  // for programs: "apiservice", "rule-series"
  std::string text;   // what was found
  std::string fix;    // unless the level is good: one line that names a field or a command

  friend bool operator==(const Finding&, const Finding&) = default;
};

Finding Good(std::string check, std::string text);
Finding Doubt(std::string check, std::string text, std::string fix);
Finding Bad(std::string check, std::string text, std::string fix);

// The findings about one subject, in the order of the chain.
using Findings = std::vector<Finding>;
void Append(Findings more, Findings& findings);

struct Section {
  std::string title;  // "cluster", "hpa shop/web"
  Findings findings;
};

using Report = std::vector<Section>;

int CountOf(const Report& report, Level level);

// A line for each finding under its section's title, one for each fix, and the totals at the end.
std::string ReportText(const Report& report);

// {"problems", "warnings", "sections": [{"title", "findings": [{"level": "ok", "warning" or
// "problem", "check", "text", "fix"}]}]}, indented, with a line end.
std::string ReportJson(const Report& report);

}  // namespace flyball::doctor
