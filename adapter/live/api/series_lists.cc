#include "adapter/live/api/series_lists.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "promql/engine/api.h"
#include "promql/matcher.h"
#include "promql/parser.h"

namespace flyball::live {
namespace {

using promql::Series;

// Each once for each selector that matches it.
template <typename OnSeries>
absl::Status ForEachChosen(const SeriesChoice& choice, const promql::SeriesReader& store,
                           const ListLimits& limits, OnSeries on_series) {
  constexpr size_t kStepsPerSeries = 20;
  promql::WorkMeter work(limits.interrupted);
  const auto each = [&](const std::vector<promql::Matcher>& matchers) -> absl::Status {
    if (limits.interrupted) RETURN_IF_ERROR(limits.interrupted());
    ASSIGN_OR_RETURN(const promql::SeriesList chosen,
                     store.SelectUnless(limits.interrupted, matchers));
    for (const std::shared_ptr<const Series>& series : chosen) {
      RETURN_IF_ERROR(work.Count(kStepsPerSeries));
      if (choice.any_time || series->Newest(choice.from_ms, choice.to_ms)) on_series(*series);
    }
    return absl::OkStatus();
  };
  if (choice.selectors.empty()) return each({});
  for (const promql::Selector& selector : choice.selectors) {
    RETURN_IF_ERROR(each(selector.matchers));
  }
  return absl::OkStatus();
}

absl::Status WrongMatch(absl::string_view why) {
  return promql::InvalidParameter("match[]", absl::InvalidArgumentError(why));
}

std::string JsonText(absl::string_view text) {
  std::string json;
  promql::AppendJsonText(text, &json);
  return json;
}

std::string JsonLabels(const promql::Labels& labels) {
  std::string json = "{";
  for (const auto& [name, value] : labels) {
    if (json.size() > 1) json.push_back(',');
    promql::AppendJsonText(name, &json);
    json.push_back(':');
    promql::AppendJsonText(value, &json);
  }
  json.push_back('}');
  return json;
}

// What was found, in order, each as `json` writes it.
template <typename Set, typename Json>
absl::StatusOr<JsonItems> Sorted(const Set& found, const ListLimits& limits, Json json) {
  std::vector<typename Set::value_type> sorted(found.begin(), found.end());
  std::sort(sorted.begin(), sorted.end());
  JsonItems items;
  size_t bytes = 0;
  for (const auto& one : sorted) {
    if (limits.limit != 0 && items.size() > limits.limit) break;
    bytes += items.emplace_back(json(one)).size();
    if (bytes > limits.max_answer_bytes) return AnswerTooLong(limits.max_answer_bytes);
  }
  return items;
}

}  // namespace

absl::Status AnswerTooLong(size_t max_bytes) {
  return absl::ResourceExhaustedError(
      absl::StrCat("the answer would be longer than ", max_bytes, " bytes"));
}

absl::StatusOr<SeriesChoice> SeriesChoiceOf(const Form& form, promql::Dialect dialect,
                                            const ListLimits& limits) {
  using Times = std::numeric_limits<int64_t>;
  SeriesChoice choice;
  ASSIGN_OR_RETURN(choice.from_ms, form.TimeMs("start", Times::min()));
  ASSIGN_OR_RETURN(choice.to_ms, form.TimeMs("end", Times::max()));
  choice.any_time = choice.from_ms == Times::min() && choice.to_ms == Times::max();
  const std::vector<std::string> texts = form.All("match[]");
  if (texts.size() > limits.max_match) {
    return WrongMatch(absl::StrCat("more than ", limits.max_match, " of them"));
  }
  promql::RegexRoom room;
  for (const std::string& text : texts) {
    if (text.size() > limits.max_selector_bytes) {
      return WrongMatch(absl::StrCat("longer than ", limits.max_selector_bytes, " bytes"));
    }
    auto selector = promql::ParseSeriesSelector(text, dialect, &room);
    if (!selector.ok()) return promql::InvalidParameter("match[]", selector.status());
    choice.selectors.push_back(*std::move(selector));
  }
  return choice;
}

absl::StatusOr<JsonItems> ListSeries(const SeriesChoice& choice, const promql::SeriesReader& store,
                                     const ListLimits& limits) {
  if (choice.selectors.empty()) {
    return absl::InvalidArgumentError("no match[] parameter provided");
  }
  absl::flat_hash_set<promql::Labels> found;
  RETURN_IF_ERROR(ForEachChosen(choice, store, limits,
                                [&](const Series& series) { found.insert(series.labels()); }));
  return Sorted(found, limits, JsonLabels);
}

absl::StatusOr<JsonItems> ListLabelNames(const SeriesChoice& choice,
                                         const promql::SeriesReader& store,
                                         const ListLimits& limits) {
  absl::flat_hash_set<std::string> names;
  RETURN_IF_ERROR(ForEachChosen(choice, store, limits, [&](const Series& series) {
    for (const auto& [name, value] : series.labels()) names.emplace(name);
  }));
  return Sorted(names, limits, JsonText);
}

absl::StatusOr<JsonItems> ListLabelValues(absl::string_view label, const SeriesChoice& choice,
                                          const promql::SeriesReader& store,
                                          const ListLimits& limits) {
  absl::flat_hash_set<std::string> values;
  RETURN_IF_ERROR(ForEachChosen(choice, store, limits, [&](const Series& series) {
    const absl::string_view value = series.labels().Get(label);
    if (!value.empty()) values.emplace(value);
  }));
  return Sorted(values, limits, JsonText);
}

}  // namespace flyball::live
