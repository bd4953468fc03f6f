// Findings as lines, for tests: "bad metric: what was seen | the fix".
#pragma once

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "doctor/finding.h"

namespace flyball::doctor {

inline std::string Line(const Finding& finding) {
  const char* level = finding.level == Level::kGood       ? "good"
                      : finding.level == Level::kDoubtful ? "doubtful"
                                                          : "bad";
  return absl::StrCat(level, " ", finding.check, ": ", finding.text,
                      finding.fix.empty() ? "" : " | ", finding.fix);
}

inline std::vector<std::string> Lines(const Findings& findings) {
  std::vector<std::string> lines;
  for (const Finding& finding : findings) lines.push_back(Line(finding));
  return lines;
}

}  // namespace flyball::doctor
