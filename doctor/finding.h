// What the doctor says: findings, each good, doubtful or bad with its remedy, in sections.
//
// Plain values and their two forms in writing. Pure. Text of a cluster (messages, names) goes
// through here alone: control characters never reach a terminal.
#pragma once

#include <string>
#include <vector>

namespace flyball::doctor {

enum class Level { kGood, kDoubtful, kBad };

struct Finding {
  Level level = Level::kGood;
  std::string check;  // for machines: "apiservice", "rule-series"
  std::string text;   // what was seen
  std::string fix;    // of what is not good: one line that names a field or a command

  friend bool operator==(const Finding&, const Finding&) = default;
};

Finding Good(std::string check, std::string text);
Finding Doubt(std::string check, std::string text, std::string fix);
Finding Bad(std::string check, std::string text, std::string fix);

// What one subject's checks found, in the order of the chain.
using Findings = std::vector<Finding>;
void Append(Findings more, Findings& findings);

struct Section {
  std::string title;  // "cluster", "hpa shop/web"
  Findings findings;
};

using Report = std::vector<Section>;

int CountOf(const Report& report, Level level);

// A line for each finding under its section's title, one for each fix, and the sum at the end.
std::string ReportText(const Report& report);

// {"problems", "warnings", "sections": [{"title", "findings": [{"level": "ok", "warning" or
// "problem", "check", "text", "fix"}]}]}, indented, with a line's end.
std::string ReportJson(const Report& report);

}  // namespace flyball::doctor
