#include "adapter/live/api/series_lists.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/go/text.h"
#include "base/status_macros.h"
#include "promql/engine/api.h"
#include "promql/engine/functions.h"
#include "promql/matcher.h"
#include "promql/parser.h"
#include "promql/text.h"

namespace flyball::live {
namespace {

using promql::Series;

// Calls on_series once for each chosen series and selector that matches it. on_series(series)
// returns the bytes that it has added to what is kept.
template <typename OnSeries>
absl::Status ForEachChosen(const SeriesChoice& choice, const promql::SeriesReader& store,
                           const ListLimits& limits, OnSeries on_series) {
  constexpr size_t kStepsPerSeries = 20;
  promql::WorkMeter work(limits.interrupted);
  const auto each = [&](const std::vector<promql::Matcher>& matchers) -> absl::Status {
    if (limits.interrupted) RETURN_IF_ERROR(limits.interrupted());
    ASSIGN_OR_RETURN(const promql::SeriesList chosen,
                     store.SelectUnless(limits.interrupted, matchers));
    limits.memory.ReturnTo(0);
    RETURN_IF_ERROR(limits.memory.Use(chosen.capacity() * sizeof(chosen[0])));
    for (const std::shared_ptr<const Series>& series : chosen) {
      RETURN_IF_ERROR(work.Count(kStepsPerSeries));
      if (!choice.any_time && !series->Newest(choice.from_ms, choice.to_ms)) continue;
      RETURN_IF_ERROR(limits.memory.Keep(on_series(*series)));
    }
    return absl::OkStatus();
  };
  if (choice.selectors.empty()) return each({});
  for (const promql::Selector& selector : choice.selectors) {
    RETURN_IF_ERROR(each(selector.matchers));
  }
  return absl::OkStatus();
}

// What a place in a hash table and one in the sorted list take.
template <typename T>
constexpr size_t kPlace = 3 * sizeof(T);

absl::Status WrongMatch(absl::string_view why) {
  return promql::InvalidParameter("match[]", absl::InvalidArgumentError(why));
}

void AppendText(absl::string_view text, std::string* json) { promql::AppendJsonText(text, json); }

void AppendLabels(const promql::Labels& labels, std::string* json) {
  json->push_back('{');
  for (const auto& [name, value] : labels) {
    if (json->back() != '{') json->push_back(',');
    promql::AppendJsonText(name, json);
    json->push_back(':');
    promql::AppendJsonText(value, json);
  }
  json->push_back('}');
}

// The name that is written as U__…; nullopt: it is not written so.
std::optional<std::string> Unescaped(absl::string_view written) {
  if (!absl::ConsumePrefix(&written, "U__")) return std::nullopt;
  std::string name;
  while (!written.empty()) {
    const size_t plain = std::min(written.find('_'), written.size());
    absl::StrAppend(&name, written.substr(0, plain));
    written.remove_prefix(plain);
    if (written.empty()) break;
    const size_t end = written.find('_', 1);
    if (end == absl::string_view::npos) return std::nullopt;
    const absl::string_view code = written.substr(1, end - 1);
    written.remove_prefix(end + 1);
    uint32_t rune = '_';
    constexpr size_t kMostDigits = 5;  // as it is there
    const bool digits = absl::c_all_of(code, absl::ascii_isxdigit);
    if (!digits || code.size() > kMostDigits) return std::nullopt;
    if (!code.empty()) (void)absl::SimpleHexAtoi(code, &rune);
    if (rune >= 0xD800 && rune < 0xE000) return std::nullopt;
    go::AppendRune(static_cast<char32_t>(rune), name);
  }
  return name;
}

// What was found, in order, each as `append` writes it.
template <typename Set, typename Append>
absl::StatusOr<JsonList> Sorted(Set found, const ListLimits& limits, Append append) {
  std::vector<typename Set::value_type> sorted(std::make_move_iterator(found.begin()),
                                               std::make_move_iterator(found.end()));
  std::sort(sorted.begin(), sorted.end());
  JsonList list;
  size_t items = 0;
  list.json = "[";
  for (const auto& one : sorted) {
    if (limits.limit != 0 && items++ == limits.limit) {
      list.truncated = true;
      break;
    }
    if (list.json.size() > 1) list.json.push_back(',');
    const size_t room = list.json.capacity();
    append(one, &list.json);
    RETURN_IF_ERROR(limits.memory.Keep(list.json.capacity() - room));
    if (list.json.size() > limits.max_answer_bytes) return AnswerTooLong(limits.max_answer_bytes);
  }
  list.json.push_back(']');
  return list;
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

absl::StatusOr<std::string> LabelNamed(const std::string& written, promql::Dialect dialect) {
  std::string name = written;
  if (dialect == promql::Dialect::k3) name = Unescaped(written).value_or(written);
  if (promql::IsLabelName(name, dialect)) return name;
  return absl::InvalidArgumentError(absl::StrCat("invalid label name: ", promql::Quote(name)));
}

absl::StatusOr<JsonList> ListSeries(const SeriesChoice& choice, const promql::SeriesReader& store,
                                    const ListLimits& limits) {
  if (choice.selectors.empty()) return absl::InvalidArgumentError("no match[] parameter provided");
  absl::flat_hash_set<promql::Labels> found;
  RETURN_IF_ERROR(ForEachChosen(choice, store, limits, [&](const Series& series) {
    return found.insert(series.labels()).second ? kPlace<promql::Labels> : 0;
  }));
  return Sorted(std::move(found), limits, AppendLabels);
}

absl::StatusOr<JsonList> ListLabelNames(const SeriesChoice& choice,
                                        const promql::SeriesReader& store,
                                        const ListLimits& limits) {
  absl::flat_hash_set<std::string> names;
  RETURN_IF_ERROR(ForEachChosen(choice, store, limits, [&](const Series& series) {
    size_t bytes = 0;
    for (const auto& [name, value] : series.labels()) {
      if (names.emplace(name).second) bytes += kPlace<std::string> + name.size();
    }
    return bytes;
  }));
  return Sorted(std::move(names), limits, AppendText);
}

absl::StatusOr<JsonList> ListLabelValues(absl::string_view label, const SeriesChoice& choice,
                                         const promql::SeriesReader& store,
                                         const ListLimits& limits) {
  absl::flat_hash_set<std::string> values;
  RETURN_IF_ERROR(ForEachChosen(choice, store, limits, [&](const Series& series) {
    const absl::string_view value = series.labels().Get(label);
    const bool added = !value.empty() && values.emplace(value).second;
    return added ? kPlace<std::string> + value.size() : 0;
  }));
  return Sorted(std::move(values), limits, AppendText);
}

}  // namespace flyball::live
