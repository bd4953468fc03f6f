#include <re2/re2.h>

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/go/regexp.h"
#include "base/go/text.h"
#include "promql/parser.h"
#include "rules/lint.h"
#include "rules/naming.h"

namespace flyball::rules {
namespace {

// Warns of a pattern that is both required and excluded.
void LintContradictions(const RuleConfig& rule, const Warner& warn) {
  std::vector<std::string> wanted = {".*", "^.*$"};
  if (!rule.name.matches.text.empty()) wanted.push_back(rule.name.matches.text);
  for (const FilterConfig& filter : rule.filters) {
    if (!filter.is.text.empty()) wanted.push_back(filter.is.text);
  }
  for (size_t i = 0; i < rule.filters.size(); ++i) {
    const TextField& refused = rule.filters[i].is_not;
    if (std::find(wanted.begin(), wanted.end(), refused.text) == wanted.end()) continue;
    warn(refused.place, absl::StrCat(".seriesFilters[", i, "].isNot"),
         "refuses all that the rule's other patterns take: the rule never matches");
  }
}

bool HasGroup(const go::Regexp& pattern, const std::string& group) {
  const auto& names = pattern.group_names();
  if (std::find(names.begin() + 1, names.end(), group) != names.end()) return true;
  int number = 0;
  const bool plain = group.size() == 1 || group[0] != '0';
  return plain && absl::SimpleAtoi(group, &number) && number <= pattern.groups();
}

// `$1_x` means a group called `1_x`.
void LintExpansion(const NameConfig& name, const Warner& warn) {
  const auto pattern = go::Regexp::Compile(name.matches.text);
  if (!pattern.ok()) return;
  static const RE2* const kReference = new RE2(R"(\$(?:(\$)|\{(\w+)\}|(\w+)))");
  re2::StringPiece rest(name.as.text);
  std::string dollar, braced, bare;
  while (RE2::FindAndConsume(&rest, *kReference, &dollar, &braced, &bare)) {
    const std::string& group = braced.empty() ? bare : braced;
    if (!dollar.empty() || HasGroup(*pattern, group)) continue;
    warn(name.as.place, ".name.as",
         absl::StrCat("names a capture group ", go::Quote(group),
                      " that name.matches does not have, and is empty there",
                      bare.empty() ? ""
                                   : ": expected braces, as in ${1}, where letters, digits or _ "
                                     "follow"));
  }
}

// The only series name that a selector can match; nullopt: that is not known.
std::optional<std::string> SeriesNameOf(absl::string_view selector) {
  const auto parsed = promql::ParseSeriesSelector(selector);
  if (!parsed.ok()) return std::nullopt;
  for (const promql::Matcher& matcher : parsed->matchers) {
    if (matcher.label() == "__name__" && matcher.op() == promql::Matcher::Op::kEqual &&
        !matcher.value().empty()) {
      return matcher.value();
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> LintName(const RuleConfig& rule, const Warner& warn) {
  Findings unheard("");  // dropped, since the compiler reports these errors
  const auto naming = SeriesNaming::Compile(rule, "", unheard);
  if (!naming) return std::nullopt;
  LintContradictions(rule, warn);
  LintExpansion(rule.name, warn);
  const TextField& as = rule.name.as;
  const auto series = SeriesNameOf(rule.series_query.text);
  if (!series) {
    if (as.text.empty() || absl::StrContains(as.text, "$")) return std::nullopt;
    warn(as.place, ".name.as",
         "gives every series of the rule the same name: the last one found hides the others, "
         "expected a name with a part of the series' such as \"${1}_per_second\"");
    return as.text;
  }
  if (!naming->Accepts(*series)) {
    warn(rule.series_query.place, ".seriesQuery",
         absl::StrCat("finds only the series ", *series,
                      ", which seriesFilters or name.matches refuse: the rule never matches"));
    return std::nullopt;
  }
  const std::string name = naming->ApiName(*series);
  if (name.empty() || absl::StrContains(name, "/")) {
    warn(as.place, ".name.as",
         absl::StrCat("gives ", *series, " the name ", go::Quote(name),
                      ", which no path can reach"));
  }
  return name;
}

}  // namespace flyball::rules
