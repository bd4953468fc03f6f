#include "adapter/live/live.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "promql/parser.h"

namespace flyball::adapter {
namespace {

// Whatever is wrong, it is the query that is refused: the source itself works.
absl::Status Refused(const absl::Status& status) {
  return absl::InvalidArgumentError(status.message());
}

QueryResult ToResult(promql::Value value, absl::Time at) {
  QueryResult result;
  if (const auto* scalar = std::get_if<double>(&value)) {
    result.type = QueryResult::Type::kScalar;
    result.samples.push_back({{}, at, *scalar});
  } else if (std::holds_alternative<std::string>(value)) {
    result.type = QueryResult::Type::kString;
  } else if (std::holds_alternative<promql::Matrix>(value)) {
    result.type = QueryResult::Type::kMatrix;
  } else {
    for (promql::Element& element : std::get<promql::Vector>(value)) {
      result.samples.push_back({element.labels.ToLabelSet(), at, element.value});
    }
  }
  return result;
}

// True if the series has a sample (markers don't count) at or after `start_ms`.
bool HasSampleSince(const promql::Series& series, int64_t start_ms) {
  const int64_t end_ms = std::numeric_limits<int64_t>::max();
  const std::optional<promql::Point> newest = series.Newest(start_ms, end_ms);
  if (!newest.has_value() || !promql::IsStale(newest->value)) return newest.has_value();
  std::vector<promql::Point> points;
  series.Read(start_ms, end_ms, points);
  return std::any_of(points.begin(), points.end(),
                     [](const promql::Point& point) { return !promql::IsStale(point.value); });
}

SeriesName NameOf(const promql::Labels& labels) {
  SeriesName name;
  for (const auto& [label, value] : labels) {
    if (label == "__name__") {
      name.name = std::string(value);
    } else {
      name.labels.emplace_back(label);
    }
  }
  return name;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const QueryResult>> Live::Query(absl::string_view promql,
                                                               absl::Time at, absl::Duration) {
  const auto expr = promql::Parse(promql, options_.dialect);
  if (!expr.ok()) return Refused(expr.status());
  const int64_t time_ms = absl::ToUnixMillis(at);
  auto value = promql::EvalInstant(**expr, store_, time_ms, options_);
  if (!value.ok()) return Refused(value.status());
  return std::make_shared<const QueryResult>(
      ToResult(*std::move(value), absl::FromUnixMillis(time_ms)));
}

absl::StatusOr<std::vector<SeriesName>> Live::Series(absl::string_view selector, absl::Time start,
                                                     absl::Duration) {
  const auto parsed = promql::ParseSeriesSelector(selector, options_.dialect);
  if (!parsed.ok()) return Refused(parsed.status());
  const int64_t start_ms = absl::ToUnixMillis(start);
  // Few names, many series of each: samples are looked for until a name has one.
  std::map<std::pair<std::string, std::vector<std::string>>, bool> found;
  for (const auto& series : store_.Select(parsed->matchers)) {
    SeriesName name = NameOf(series->labels());
    bool& has_sample = found[{std::move(name.name), std::move(name.labels)}];
    has_sample = has_sample || HasSampleSince(*series, start_ms);
  }
  std::vector<SeriesName> names;
  for (const auto& [name, has_sample] : found) {
    if (has_sample) names.push_back({.name = name.first, .labels = name.second});
  }
  return names;
}

}  // namespace flyball::adapter
