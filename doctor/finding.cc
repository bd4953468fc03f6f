#include "doctor/finding.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/counted.h"
#include "base/one_line.h"

namespace flyball::doctor {
namespace {

struct LevelWords {
  absl::string_view mark, name;  // for people, for programs
};

LevelWords WordsOf(Level level) {
  constexpr LevelWords kWords[] = {{"✓", "ok"}, {"!", "warning"}, {"✗", "problem"}};
  return kWords[static_cast<size_t>(level)];
}

// The text in one line. A line end or a tab is shown as a blank, since messages often have several
// lines; other characters that control a terminal are shown as escape sequences.
std::string Shown(absl::string_view text) {
  std::string shown(absl::StripAsciiWhitespace(text));
  for (char& c : shown) {
    if (absl::ascii_isspace(static_cast<unsigned char>(c))) c = ' ';
  }
  return OneLine(shown);
}

}  // namespace

Finding Good(std::string check, std::string text) {
  return {Level::kGood, std::move(check), std::move(text), ""};
}

Finding Doubt(std::string check, std::string text, std::string fix) {
  return {Level::kDoubtful, std::move(check), std::move(text), std::move(fix)};
}

Finding Bad(std::string check, std::string text, std::string fix) {
  return {Level::kBad, std::move(check), std::move(text), std::move(fix)};
}

void Append(Findings more, Findings& findings) {
  for (Finding& finding : more) findings.push_back(std::move(finding));
}

int CountOf(const Report& report, Level level) {
  int count = 0;
  for (const Section& section : report) {
    for (const Finding& finding : section.findings) count += finding.level == level;
  }
  return count;
}

namespace {

// There must be one.
const Finding& FirstBad(const Report& report) {
  const Finding* first = nullptr;
  for (const Section& section : report) {
    for (const Finding& finding : section.findings) {
      if (first == nullptr && finding.level == Level::kBad) first = &finding;
    }
  }
  return *first;
}

}  // namespace

std::string ReportText(const Report& report) {
  std::string out;
  for (const Section& section : report) {
    if (section.findings.empty()) continue;
    absl::StrAppend(&out, Shown(section.title), "\n");
    for (const Finding& finding : section.findings) {
      absl::StrAppend(&out, "  ", WordsOf(finding.level).mark, " ", Shown(finding.text), "\n");
      if (!finding.fix.empty()) absl::StrAppend(&out, "    fix: ", Shown(finding.fix), "\n");
    }
    out += "\n";
  }
  const int bad = CountOf(report, Level::kBad);
  const int doubtful = CountOf(report, Level::kDoubtful);
  absl::StrAppend(
      &out, bad == 0 ? "no problems" : Counted(static_cast<size_t>(bad), "problem"),
      doubtful == 0 ? "" : absl::StrCat(", ", Counted(static_cast<size_t>(doubtful), "warning")),
      "\n");
  // Findings are in the order of the chain, so that the first problem may cause the others.
  if (bad > 1) absl::StrAppend(&out, "begin with: ", Shown(FirstBad(report).text), "\n");
  return out;
}

std::string ReportJson(const Report& report) {
  using Json = nlohmann::ordered_json;
  Json sections = Json::array();
  for (const Section& section : report) {
    Json findings = Json::array();
    for (const Finding& finding : section.findings) {
      Json one = {{"level", std::string(WordsOf(finding.level).name)},
                  {"check", finding.check},
                  {"text", finding.text}};
      if (!finding.fix.empty()) one["fix"] = finding.fix;
      findings.push_back(std::move(one));
    }
    sections.push_back({{"title", section.title}, {"findings", std::move(findings)}});
  }
  const Json whole = {{"problems", CountOf(report, Level::kBad)},
                      {"warnings", CountOf(report, Level::kDoubtful)},
                      {"sections", std::move(sections)}};
  return whole.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace flyball::doctor
