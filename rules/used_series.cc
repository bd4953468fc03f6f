#include "rules/used_series.h"

#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "promql/parser.h"
#include "promql/selectors.h"
#include "re2/re2.h"
#include "rules/query_shape.h"

namespace flyball::rules {
namespace {

using promql::Matcher;
using Selectors = std::vector<std::vector<Matcher>>;

// Stands for <<.Series>>. A name of its own is one that the series query finds; within a longer
// name it stands for anything, as in <<.Series>>_count.
constexpr absl::string_view kSeries = "flyball:series";

// The matcher of the series name, in which the mark stands for any text.
absl::StatusOr<Matcher> WithoutMark(const Matcher& name) {
  if (!absl::StrContains(name.value(), kSeries)) return name;
  const bool is_text = name.op() == Matcher::Op::kEqual || name.op() == Matcher::Op::kNotEqual;
  const std::string mark(kSeries);
  const std::string pattern =
      absl::StrReplaceAll(is_text ? RE2::QuoteMeta(name.value()) : name.value(),
                          {{is_text ? RE2::QuoteMeta(mark) : mark, ".*"}});
  return Matcher::Make("__name__", Matcher::Op::kRegex, pattern);
}

// False: the selector may read any series.
bool AddNames(const promql::Selector& selector, Selectors& used) {
  std::vector<Matcher> names;
  for (const Matcher& matcher : selector.matchers) {
    if (matcher.label() != "__name__") continue;
    if (matcher.op() == Matcher::Op::kEqual && matcher.value() == kSeries) return true;
    // What such a name excludes depends on the series.
    const bool excludes =
        matcher.op() == Matcher::Op::kNotEqual || matcher.op() == Matcher::Op::kNotRegex;
    if (excludes && absl::StrContains(matcher.value(), kSeries)) continue;
    auto name = WithoutMark(matcher);
    if (!name.ok()) return false;
    names.push_back(*std::move(name));
  }
  if (names.empty()) return false;
  used.push_back(std::move(names));
  return true;
}

bool AddQuery(const QueryTemplate& query, Selectors& used) {
  if (query.text().empty()) return true;
  if (!OnlyFillsIn(query.tree())) return false;
  const auto text = query.Execute(QueryData{.series = std::string(kSeries),
                                            .label_matchers = "flyball_label=\"x\"",
                                            .label_values_by_name = {},
                                            .group_by_slice = {"flyball_label"}});
  if (!text.ok()) return false;
  const auto expr = promql::Parse(*text);
  if (!expr.ok()) return false;
  bool shown = true;
  promql::ForEachSelector(
      **expr, [&](const promql::Selector& selector) { shown = AddNames(selector, used) && shown; });
  return shown;
}

bool AddRules(const std::vector<std::shared_ptr<const CompiledRule>>& rules, Selectors& used) {
  for (const auto& rule : rules) {
    auto series = promql::ParseSeriesSelector(rule->series_query);
    if (!series.ok()) return false;
    used.push_back(std::move(series->matchers));
    if (!AddQuery(rule->query, used)) return false;
  }
  return true;
}

bool AddResource(const CompiledResourceRule& rule, Selectors& used) {
  return AddQuery(rule.container_query, used) && AddQuery(rule.node_query, used);
}

}  // namespace

std::optional<Selectors> UsedSeries(const CompiledRules& rules) {
  Selectors used;
  if (!AddRules(rules.custom, used) || !AddRules(rules.external, used)) return std::nullopt;
  if (rules.resource &&
      !(AddResource(*rules.resource->cpu, used) && AddResource(*rules.resource->memory, used))) {
    return std::nullopt;
  }
  return used;
}

}  // namespace flyball::rules
