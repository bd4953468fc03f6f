#include "rules/naming.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/go/text.h"

namespace flyball::rules {
namespace {

std::optional<go::Regexp> CompilePattern(const TextField& field, const std::string& path,
                                         Findings& findings) {
  auto regexp = go::Regexp::Compile(field.text);
  if (regexp.ok()) return *std::move(regexp);
  findings.Error(field.place, path,
                 absl::StrCat("bad regular expression ", go::Quote(field.text), ": ",
                              regexp.status().message(), "; expected RE2 syntax"));
  return std::nullopt;
}

}  // namespace

std::optional<SeriesNaming> SeriesNaming::Compile(const RuleConfig& rule, const std::string& path,
                                                  Findings& findings) {
  SeriesNaming naming;
  bool good = true;
  for (size_t i = 0; i < rule.filters.size(); ++i) {
    const FilterConfig& filter = rule.filters[i];
    const std::string field = absl::StrCat(path, ".seriesFilters[", i, "]");
    const bool is = !filter.is.text.empty(), is_not = !filter.is_not.text.empty();
    if (is == is_not) {
      findings.Error(filter.place, field,
                     absl::StrCat(is ? "has both is and isNot" : "has neither is nor isNot",
                                  ", expected exactly one of them"));
      good = false;
      continue;
    }
    auto regexp = CompilePattern(is ? filter.is : filter.is_not,
                                 absl::StrCat(field, is ? ".is" : ".isNot"), findings);
    good &= regexp.has_value();
    if (regexp) naming.filters_.push_back({*std::move(regexp), is});
  }

  naming.as_ = rule.name.as.text;
  int groups = 0;
  if (!rule.name.matches.text.empty()) {
    naming.matches_ = CompilePattern(rule.name.matches, path + ".name.matches", findings);
    if (!naming.matches_) return std::nullopt;
    groups = naming.matches_->groups();
    naming.filters_.push_back({*naming.matches_, true});
  }
  if (naming.as_.empty()) {
    naming.as_ = groups == 0 ? "$0" : "$1";
    if (groups > 1) {
      findings.Error(
          rule.name.matches.place, path + ".name.as",
          absl::StrCat("is missing: name.matches has ", groups,
                       " capture groups, expected a name made of them such as \"$1_$2\""));
      good = false;
    }
  }
  if (!good) return std::nullopt;
  return naming;
}

bool SeriesNaming::Accepts(absl::string_view series) const {
  return std::all_of(filters_.begin(), filters_.end(), [&](const Filter& filter) {
    return filter.regexp.Matches(series) == filter.keeps;
  });
}

std::string SeriesNaming::ApiName(absl::string_view series) const {
  if (matches_) return matches_->Expand(series, as_).value_or("");
  static const go::Regexp* const kAny = new go::Regexp(*go::Regexp::Compile(".*"));
  return kAny->Expand(series, as_).value_or("");
}

}  // namespace flyball::rules
