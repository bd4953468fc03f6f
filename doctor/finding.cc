#include "doctor/finding.h"

#include <nlohmann/json.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/counted.h"

namespace flyball::doctor {
namespace {

absl::string_view Mark(Level level) {
  switch (level) {
    case Level::kGood:
      return "✓";
    case Level::kDoubtful:
      return "!";
    case Level::kBad:
      return "✗";
  }
  return "?";
}

absl::string_view LevelName(Level level) {
  switch (level) {
    case Level::kGood:
      return "ok";
    case Level::kDoubtful:
      return "warning";
    case Level::kBad:
      return "problem";
  }
  return "";
}

// In one line, and nothing that a terminal would obey.
std::string Shown(absl::string_view text) {
  std::string shown;
  for (const char c : text) shown += absl::ascii_iscntrl(static_cast<unsigned char>(c)) ? ' ' : c;
  return std::string(absl::StripAsciiWhitespace(shown));
}

}  // namespace

void Findings::Good(std::string check, std::string text) {
  all_.push_back({Level::kGood, std::move(check), std::move(text), ""});
}

void Findings::Doubt(std::string check, std::string text, std::string fix) {
  all_.push_back({Level::kDoubtful, std::move(check), std::move(text), std::move(fix)});
}

void Findings::Bad(std::string check, std::string text, std::string fix) {
  all_.push_back({Level::kBad, std::move(check), std::move(text), std::move(fix)});
}

void Findings::Append(Findings other) {
  for (Finding& finding : other.all_) all_.push_back(std::move(finding));
}

int CountOf(const Report& report, Level level) {
  int count = 0;
  for (const Section& section : report) {
    for (const Finding& finding : section.findings.all()) count += finding.level == level;
  }
  return count;
}

std::string ReportText(const Report& report) {
  std::string out;
  for (const Section& section : report) {
    if (section.findings.all().empty()) continue;
    absl::StrAppend(&out, Shown(section.title), "\n");
    for (const Finding& finding : section.findings.all()) {
      absl::StrAppend(&out, "  ", Mark(finding.level), " ", Shown(finding.text), "\n");
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
  return out;
}

std::string ReportJson(const Report& report) {
  using Json = nlohmann::ordered_json;
  Json sections = Json::array();
  for (const Section& section : report) {
    Json findings = Json::array();
    for (const Finding& finding : section.findings.all()) {
      Json one = {{"level", std::string(LevelName(finding.level))},
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
