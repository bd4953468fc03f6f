#include "rules/used_series.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "promql/parser.h"
#include "promql/selectors.h"
#include "re2/re2.h"
#include "rules/query_shape.h"

namespace flyball::rules {
namespace {

using promql::Matcher;
using Selector = std::vector<Matcher>;

// Replaces <<.Series>>. Alone it is a name that the series query finds; within a longer name, as in
// <<.Series>>_count, it means anything.
constexpr absl::string_view kSeries = "flyball:series";
// Stands for <<.LabelMatchers>>.
constexpr absl::string_view kMatched = "flyball_label";

Selector NamesOf(const Selector& matchers) {
  Selector names;
  for (const Matcher& matcher : matchers) {
    if (matcher.label() == "__name__") names.push_back(matcher);
  }
  return names;
}

// The series found by a rule's series query that the rule's queries can read. The API lists a
// metric by these, but a request's query asks for all series of that name, so the other conditions
// of the series query must not exclude values. Only the condition that there is a namespace may
// stay, if each request names one.
struct OfSeries {
  Selector requested;  // with the matchers of a request
  Selector named;      // without them
};

OfSeries ReadOf(const Selector& series_query, const CompiledRule& rule, bool external) {
  OfSeries read = {.requested = NamesOf(series_query), .named = NamesOf(series_query)};
  if (!(external ? rule.namespaced : rule.mapping.RequestsNameNamespaces())) return read;
  const std::string ns = rule.mapping.NamespaceLabel();
  for (const Matcher& matcher : series_query) {
    const bool is_there = matcher.op() == Matcher::Op::kNotEqual && matcher.value().empty();
    if (is_there && matcher.label() == ns) read.requested.push_back(matcher);
  }
  return read;
}

struct Used {
  std::vector<Selector> selectors;  // each once
  absl::flat_hash_set<std::string> texts;
};

// False: it is any series.
bool Add(const Selector& selector, Used& used) {
  if (selector.empty()) return false;
  if (used.texts.insert(promql::SelectorText(selector)).second) used.selectors.push_back(selector);
  return true;
}

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
bool AddNames(const promql::Selector& selector, const OfSeries& series, Used& used) {
  const bool as_requested =
      std::any_of(selector.matchers.begin(), selector.matchers.end(),
                  [](const Matcher& matcher) { return matcher.label() == kMatched; });
  Selector names;
  for (const Matcher& matcher : selector.matchers) {
    if (matcher.label() != "__name__") continue;
    if (matcher.op() == Matcher::Op::kEqual && matcher.value() == kSeries) {
      return Add(as_requested ? series.requested : series.named, used);
    }
    // Which series such a name excludes depends on the request's series.
    const bool excludes =
        matcher.op() == Matcher::Op::kNotEqual || matcher.op() == Matcher::Op::kNotRegex;
    if (excludes && absl::StrContains(matcher.value(), kSeries)) continue;
    auto name = WithoutMark(matcher);
    if (!name.ok()) return false;
    names.push_back(*std::move(name));
  }
  return Add(names, used);
}

bool AddQuery(const QueryTemplate& query, const OfSeries& series, Used& used) {
  if (query.text().empty()) return true;
  if (!OnlyFillsIn(query.tree())) return false;
  const auto text = query.Execute(QueryData{.series = std::string(kSeries),
                                            .label_matchers = absl::StrCat(kMatched, "=\"x\""),
                                            .label_values_by_name = {},
                                            .group_by_slice = {std::string(kMatched)}});
  if (!text.ok()) return false;
  const auto expr = promql::Parse(*text);
  if (!expr.ok()) return false;
  bool shown = true;
  promql::ForEachSelector(**expr, [&](const promql::Selector& selector) {
    shown = AddNames(selector, series, used) && shown;
  });
  return shown;
}

bool AddRules(const std::vector<std::shared_ptr<const CompiledRule>>& rules, bool external,
              Used& used) {
  for (const auto& rule : rules) {
    const auto series = promql::ParseSeriesSelector(rule->series_query);
    if (!series.ok()) return false;
    const OfSeries read = ReadOf(series->matchers, *rule, external);
    // For the list of metrics, even if the query reads others.
    if (!Add(read.requested, used) || !AddQuery(rule->query, read, used)) return false;
  }
  return true;
}

bool AddResource(const CompiledResourceRule& rule, Used& used) {
  return AddQuery(rule.container_query, {}, used) && AddQuery(rule.node_query, {}, used);
}

}  // namespace

std::optional<std::vector<Selector>> UsedSeries(const CompiledRules& rules) {
  Used used;
  if (!AddRules(rules.custom, /*external=*/false, used) ||
      !AddRules(rules.external, /*external=*/true, used)) {
    return std::nullopt;
  }
  if (rules.resource &&
      !(AddResource(*rules.resource->cpu, used) && AddResource(*rules.resource->memory, used))) {
    return std::nullopt;
  }
  return std::move(used.selectors);
}

}  // namespace flyball::rules
