#include "adapter/live/api/series_lists.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "base/status_macros.h"
#include "promql/engine/api.h"
#include "promql/parser.h"

namespace flyball::live {
namespace {

using promql::Series;

// Each once for each selector that matches it.
template <typename OnSeries>
void ForEachChosen(const SeriesChoice& choice, const promql::SeriesReader& store,
                   OnSeries on_series) {
  const auto each = [&](const std::vector<promql::Matcher>& matchers) {
    for (const std::shared_ptr<const Series>& series : store.Select(matchers)) {
      if (choice.any_time || series->Newest(choice.from_ms, choice.to_ms)) on_series(*series);
    }
  };
  if (choice.selectors.empty()) each({});
  for (const promql::Selector& selector : choice.selectors) each(selector.matchers);
}

std::string JsonText(absl::string_view text) {
  std::string json;
  promql::AppendJsonText(text, &json);
  return json;
}

JsonItems SortedTexts(const absl::flat_hash_set<std::string>& texts) {
  std::vector<std::string> sorted(texts.begin(), texts.end());
  std::sort(sorted.begin(), sorted.end());
  for (std::string& text : sorted) text = JsonText(text);
  return sorted;
}

}  // namespace

absl::StatusOr<SeriesChoice> SeriesChoiceOf(const Form& form, promql::Dialect dialect) {
  using Times = std::numeric_limits<int64_t>;
  SeriesChoice choice;
  ASSIGN_OR_RETURN(choice.from_ms, form.TimeMs("start", Times::min()));
  ASSIGN_OR_RETURN(choice.to_ms, form.TimeMs("end", Times::max()));
  choice.any_time = choice.from_ms == Times::min() && choice.to_ms == Times::max();
  for (const std::string& text : form.All("match[]")) {
    auto selector = promql::ParseSeriesSelector(text, dialect);
    if (!selector.ok()) return promql::InvalidParameter("match[]", selector.status());
    choice.selectors.push_back(*std::move(selector));
  }
  return choice;
}

absl::StatusOr<JsonItems> ListSeries(const SeriesChoice& choice,
                                     const promql::SeriesReader& store) {
  if (choice.selectors.empty()) {
    return absl::InvalidArgumentError("no match[] parameter provided");
  }
  std::vector<promql::Labels> found;
  ForEachChosen(choice, store, [&](const Series& series) { found.push_back(series.labels()); });
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  JsonItems items;
  items.reserve(found.size());
  for (const promql::Labels& labels : found) {
    std::string& json = items.emplace_back("{");
    for (const auto& [name, value] : labels) {
      if (json.size() > 1) json.push_back(',');
      promql::AppendJsonText(name, &json);
      json.push_back(':');
      promql::AppendJsonText(value, &json);
    }
    json.push_back('}');
  }
  return items;
}

JsonItems ListLabelNames(const SeriesChoice& choice, const promql::SeriesReader& store) {
  absl::flat_hash_set<std::string> names;
  ForEachChosen(choice, store, [&](const Series& series) {
    for (const auto& [name, value] : series.labels()) names.insert(std::string(name));
  });
  return SortedTexts(names);
}

JsonItems ListLabelValues(absl::string_view label, const SeriesChoice& choice,
                          const promql::SeriesReader& store) {
  absl::flat_hash_set<std::string> values;
  ForEachChosen(choice, store, [&](const Series& series) {
    const absl::string_view value = series.labels().Get(label);
    if (!value.empty()) values.insert(std::string(value));
  });
  return SortedTexts(values);
}

}  // namespace flyball::live
