#include "query/query.h"

#include <cstdint>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "promql/engine/api.h"
#include "promql/engine/engine.h"
#include "promql/labels.h"
#include "promql/query_span.h"
#include "promql/text.h"
#include "query/sample_file.h"

namespace flyball::query {
namespace {

absl::StatusOr<int64_t> ReadTime(absl::string_view name, const std::string& text) {
  const auto time_ms = promql::ParseApiTimeMs(text);
  if (!time_ms.ok()) return promql::InvalidParameter(name, time_ms.status());
  return time_ms;
}

absl::StatusOr<int64_t> ReadDuration(absl::string_view name, const std::string& text) {
  const auto ms = promql::ParseApiDurationMs(text);
  if (!ms.ok()) return promql::InvalidParameter(name, ms.status());
  return ms;
}

absl::StatusOr<promql::Steps> ReadSteps(const QueryOptions& options) {
  if (!options.start || !options.end || !options.step || options.time) {
    return absl::InvalidArgumentError(
        "a range query takes a start, an end and a step, and no single time");
  }
  promql::Steps steps;
  ASSIGN_OR_RETURN(steps.start_ms, ReadTime("start", *options.start));
  ASSIGN_OR_RETURN(steps.end_ms, ReadTime("end", *options.end));
  ASSIGN_OR_RETURN(steps.step_ms, ReadDuration("step", *options.step));
  return steps;
}

// The text of a series, also of one without labels.
std::string Name(const promql::Labels& labels) {
  return labels.empty() ? "{}" : promql::FormatLabels(labels);
}

std::string At(const promql::Point& point) {
  return absl::StrCat(promql::FormatValue(point.value), " @ ",
                      absl::FormatTime(absl::RFC3339_full, absl::FromUnixMillis(point.time_ms),
                                       absl::UTCTimeZone()));
}

// The series on a line, and each of its points on one of its own below it.
std::string RangesTable(const std::vector<promql::Range>& series) {
  std::string table;
  for (const promql::Range& range : series) {
    absl::StrAppend(&table, Name(range.labels), "\n");
    for (const promql::Point& point : range.points) absl::StrAppend(&table, "  ", At(point), "\n");
  }
  return table;
}

std::string Table(const promql::Value& value, int64_t time_ms) {
  if (const auto* scalar = std::get_if<double>(&value)) {
    return absl::StrCat(At({time_ms, *scalar}), "\n");
  }
  if (const auto* text = std::get_if<std::string>(&value)) return absl::StrCat(*text, "\n");
  if (const auto* matrix = std::get_if<promql::Matrix>(&value)) return RangesTable(matrix->series);
  std::string table;
  for (const promql::Element& element : std::get<promql::Vector>(value)) {
    absl::StrAppend(&table, Name(element.labels), "  ", At({time_ms, element.value}), "\n");
  }
  return table;
}

}  // namespace

absl::StatusOr<std::string> AnswerQuery(absl::string_view samples, const QueryOptions& options) {
  promql::EvalOptions eval;
  eval.dialect = options.dialect;
  ASSIGN_OR_RETURN(eval.lookback_ms, ReadDuration("lookback_delta", options.lookback));
  const bool ranged = options.start || options.end || options.step;
  promql::Steps steps;
  if (ranged) {
    ASSIGN_OR_RETURN(steps, ReadSteps(options));
  }
  const auto span = promql::QuerySpan::Of(steps.start_ms, steps.end_ms, steps.step_ms);
  const auto expr = promql::ParseFor(span, options.expr, options.dialect);
  if (!expr.ok()) {
    // query_range of Prometheus 2 hands on the parser's error as it is.
    if (ranged && options.dialect == promql::Dialect::k2) return expr.status();
    return promql::InvalidParameter("query", expr.status());
  }
  ASSIGN_OR_RETURN(const SampleFile file, ReadSampleFile(samples));
  if (ranged) {
    ASSIGN_OR_RETURN(const std::vector<promql::Range> series,
                     promql::EvalRange(**expr, file.series, steps, eval));
    return options.json ? absl::StrCat(promql::QueryRangeDataJson(series), "\n")
                        : RangesTable(series);
  }
  int64_t time_ms = file.newest_ms.value_or(0);
  if (options.time) {
    ASSIGN_OR_RETURN(time_ms, ReadTime("time", *options.time));
  }
  ASSIGN_OR_RETURN(const promql::Value value,
                   promql::EvalInstant(**expr, file.series, time_ms, eval));
  return options.json ? absl::StrCat(promql::QueryDataJson(value, time_ms), "\n")
                      : Table(value, time_ms);
}

}  // namespace flyball::query
