#include "adapter/live/api/query_pages.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "adapter/live/api/series_lists.h"
#include "base/free_memory.h"
#include "base/go/url.h"
#include "base/one_line.h"
#include "base/status_macros.h"
#include "http/server/event_workers.h"
#include "promql/engine/api.h"
#include "promql/query_span.h"

namespace flyball::live {
namespace {

constexpr absl::string_view kApi = "/api/v1/";
constexpr absl::string_view kLabel = "/api/v1/label/";
constexpr absl::string_view kValues = "/values";
constexpr absl::string_view kTruncated = "results truncated due to limit";

bool IsLabelValues(absl::string_view path) {
  return path.size() > kLabel.size() + kValues.size() && absl::StartsWith(path, kLabel) &&
         absl::EndsWith(path, kValues);
}

int HttpStatusOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kResourceExhausted: return 422;
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kCancelled: return 503;
    case absl::StatusCode::kInternal: return 500;
    default: return 400;
  }
}

http::HttpResponse Json(int status, std::string body) {
  return http::NosniffResponse(status, "application/json", std::move(body));
}

http::HttpResponse NotAllowed(absl::string_view allowed) {
  http::HttpResponse response =
      Json(405, promql::ErrorJson(absl::InvalidArgumentError("method not allowed")));
  response.headers.emplace_back("Allow", std::string(allowed));
  return response;
}

// Adds the envelope around the data in place, without copying them, since they may be long.
std::string SuccessJson(std::string json, absl::string_view warning) {
  json.insert(0, "{\"status\":\"success\",\"data\":");
  if (!warning.empty()) {
    absl::StrAppend(&json, ",\"warnings\":[");
    promql::AppendJsonText(warning, &json);
    json.push_back(']');
  }
  json.push_back('}');
  return json;
}

// What is wrong with a request may repeat much of it, such as a regular expression.
absl::Status Shortened(const absl::Status& status) {
  if (!absl::IsInvalidArgument(status)) return status;
  return absl::InvalidArgumentError(Abridged(status.message(), kMaxErrorBytes));
}

absl::Status Wrong(absl::string_view parameter, absl::string_view why) {
  return promql::InvalidParameter(parameter, absl::InvalidArgumentError(why));
}

absl::StatusOr<std::string> QueryTextOf(const Form& form, size_t max_bytes) {
  std::string text = form.Value("query");
  if (text.size() <= max_bytes) return text;
  return Wrong("query", absl::StrCat("the query is longer than ", max_bytes, " bytes"));
}

// Grafana asks for the version of Prometheus: the answer is the version whose API is reproduced.
std::string BuildInfo(promql::Dialect dialect) {
  return absl::StrCat("{\"version\":\"", dialect == promql::Dialect::k2 ? "2.42.0" : "3.15.0",
                      "\",\"revision\":\"\",\"branch\":\"flyball\",\"buildUser\":\"\","
                      "\"buildDate\":\"\",\"goVersion\":\"\"}");
}

void AppendMetadata(absl::string_view name, const MetricMetadata& metadata, std::string* json) {
  promql::AppendJsonText(name, json);
  absl::StrAppend(json, ":[{\"type\":");
  promql::AppendJsonText(metadata.type, json);
  absl::StrAppend(json, ",\"help\":");
  promql::AppendJsonText(metadata.help, json);
  absl::StrAppend(json, ",\"unit\":");
  promql::AppendJsonText(metadata.unit, json);
  absl::StrAppend(json, "}]");
}

// glibc would keep the pieces that a large query has freed in each thread's heap: the queries of
// several threads, one after the other, would take as much as if they had run at once.
void ReturnIfMuch(const promql::QueryMemory& memory) {
  constexpr size_t kMuch = size_t{4} << 20;
  if (memory.peak() >= kMuch) ReturnFreeMemory();
}

// Keeps the first `limit` results; 0: all. Returns whether any were dropped.
template <typename Results>
bool Truncate(size_t limit, Results& results) {
  if (limit == 0 || results.size() <= limit) return false;
  results.resize(limit);
  return true;
}

}  // namespace

QueryPages::QueryPages(const promql::SeriesReader& store, const MetadataTable& metadata,
                       Clock& clock, QueryPagesOptions options)
    : store_(store),
      metadata_(metadata),
      clock_(clock),
      options_(std::move(options)),
      places_({.all = options_.limits.max_at_once, .max_waiting = options_.limits.max_waiting},
              clock) {}

bool QueryPages::Has(absl::string_view path) const {
  if (IsLabelValues(path)) return true;
  for (const absl::string_view name :
       {"query", "query_range", "series", "labels", "metadata", "status/buildinfo"}) {
    if (absl::StartsWith(path, kApi) && path.substr(kApi.size()) == name) return true;
  }
  return false;
}

http::HttpResponse QueryPages::Answer(const http::HttpRequest& request) {
  const absl::string_view path =
      absl::string_view(request.target).substr(0, request.target.find('?'));
  const bool only_get = IsLabelValues(path) || absl::EndsWith(path, "/metadata") ||
                        absl::EndsWith(path, "/buildinfo");
  if (request.method != "GET" && (only_get || request.method != "POST")) {
    return NotAllowed(only_get ? "GET" : "GET, POST");
  }
  const auto form = Form::Of(request);
  absl::StatusOr<Answered> answered =
      form.ok() ? AnswerOf(path, *form) : absl::StatusOr<Answered>(form.status());
  if (!answered.ok()) {
    return Json(HttpStatusOf(answered.status()), promql::ErrorJson(Shortened(answered.status())));
  }
  http::HttpResponse response =
      Json(200, SuccessJson(std::move(answered->data), answered->warning));
  response.held = std::move(answered->place);
  return response;
}

absl::StatusOr<QueryPages::Answered> QueryPages::AnswerOf(absl::string_view path,
                                                          const Form& form) {
  if (absl::EndsWith(path, "/buildinfo")) return Answered{BuildInfo(options_.dialect), ""};
  ASSIGN_OR_RETURN(const MonotonicTime deadline, DeadlineOf(form));
  absl::StatusOr<std::shared_ptr<const void>> place = places_.Take(1, deadline);
  if (!place.ok()) {
    return absl::DeadlineExceededError(
        absl::StrCat(absl::IsResourceExhausted(place.status()) ? "too many queries wait, " : "",
                     "query timed out in query queue"));
  }
  // A query may take long, and probes must not wait for it.
  const http::EventWorkers::Waiting working;
  promql::QueryMemory memory(MaxBytesOfOne());
  absl::StatusOr<Answered> answered = DataOf(path, form, {deadline, memory});
  ReturnIfMuch(memory);
  if (answered.ok()) answered->place = *std::move(place);
  return answered;
}

absl::StatusOr<QueryPages::Answered> QueryPages::DataOf(absl::string_view path, const Form& form,
                                                        const Bounds& bounds) const {
  if (absl::EndsWith(path, "/metadata")) return Metadata(form, bounds);
  if (absl::EndsWith(path, "/query")) return Query(form, bounds);
  if (absl::EndsWith(path, "/query_range")) return QueryRange(form, bounds);
  return List(path, form, bounds);
}

absl::StatusOr<MonotonicTime> QueryPages::DeadlineOf(const Form& form) const {
  absl::Duration timeout = options_.limits.timeout;
  if (const std::string text = form.Value("timeout"); !text.empty()) {
    // This comes before the queue, so it must not take long.
    constexpr size_t kMostBytes = 64;
    if (text.size() > kMostBytes) {
      return Wrong("timeout", absl::StrCat("longer than ", kMostBytes, " bytes"));
    }
    const auto wanted_ms = promql::ParseApiDurationMs(text);
    if (!wanted_ms.ok()) return promql::InvalidParameter("timeout", wanted_ms.status());
    timeout = std::min(timeout, absl::Milliseconds(*wanted_ms));
  }
  return clock_.MonotonicNow() + timeout;
}

absl::StatusOr<promql::EvalOptions> QueryPages::EvalOptionsOf(const Form& form,
                                                              const Bounds& bounds) const {
  promql::EvalOptions eval;
  eval.dialect = options_.dialect;
  eval.lookback_ms = options_.lookback_ms;
  eval.max_points = options_.limits.max_points;
  eval.memory = &bounds.memory;
  if (const std::string text = form.Value("lookback_delta"); !text.empty()) {
    ASSIGN_OR_RETURN(const int64_t lookback_ms, promql::ParseApiDurationMs(text));
    if (lookback_ms > 0) eval.lookback_ms = lookback_ms;  // otherwise the usual one
  }
  eval.interrupted = EndAt(bounds.deadline);
  return eval;
}

promql::Interrupted QueryPages::EndAt(MonotonicTime deadline) const {
  return [this, deadline]() -> absl::Status {
    if (clock_.MonotonicNow() < deadline) return absl::OkStatus();
    return absl::DeadlineExceededError("query timed out in expression evaluation");
  };
}

size_t QueryPages::MaxBytesOfOne() const {
  return options_.limits.max_bytes / options_.limits.max_at_once;
}

size_t QueryPages::MaxAnswerBytes(size_t result_bytes) const {
  const size_t left = MaxBytesOfOne() - std::min(MaxBytesOfOne(), result_bytes);
  return std::min(options_.limits.max_answer_bytes, left);
}

absl::StatusOr<QueryPages::Answered> QueryPages::Checked(std::string data, size_t most_bytes,
                                                         bool truncated) const {
  if (data.size() > most_bytes) return AnswerTooLong(most_bytes);
  return Answered{std::move(data), truncated ? std::string(kTruncated) : ""};
}

absl::StatusOr<QueryPages::Answered> QueryPages::Query(const Form& form,
                                                       const Bounds& bounds) const {
  ASSIGN_OR_RETURN(const size_t limit, form.Limit());
  ASSIGN_OR_RETURN(const int64_t time_ms,
                   form.TimeMs("time", absl::ToUnixMillis(clock_.WallNow())));
  ASSIGN_OR_RETURN(const promql::EvalOptions eval, EvalOptionsOf(form, bounds));
  ASSIGN_OR_RETURN(const std::string text, QueryTextOf(form, options_.limits.max_query_bytes));
  const auto expr = promql::ParseFor({}, text, options_.dialect);
  if (!expr.ok()) return promql::InvalidParameter("query", expr.status());
  ASSIGN_OR_RETURN(promql::Value value, promql::EvalInstant(**expr, store_, time_ms, eval));
  ReturnIfMuch(bounds.memory);
  bool truncated = false;
  if (auto* vector = std::get_if<promql::Vector>(&value)) truncated = Truncate(limit, *vector);
  if (auto* matrix = std::get_if<promql::Matrix>(&value)) {
    truncated = Truncate(limit, matrix->series);
  }
  const size_t most_bytes = MaxAnswerBytes(promql::BytesOf(value));
  return Checked(promql::QueryDataJson(value, time_ms, most_bytes), most_bytes, truncated);
}

absl::StatusOr<QueryPages::Answered> QueryPages::QueryRange(const Form& form,
                                                            const Bounds& bounds) const {
  ASSIGN_OR_RETURN(const size_t limit, form.Limit());
  promql::Steps steps;
  ASSIGN_OR_RETURN(steps.start_ms, form.TimeMs("start", std::nullopt));
  ASSIGN_OR_RETURN(steps.end_ms, form.TimeMs("end", std::nullopt));
  if (steps.end_ms < steps.start_ms) {
    return Wrong("end", "end timestamp must not be before start time");
  }
  const auto step_ms = promql::ParseApiDurationMs(form.Value("step"));
  if (!step_ms.ok()) return promql::InvalidParameter("step", step_ms.status());
  if (*step_ms <= 0) {
    return Wrong("step",
                 "zero or negative query resolution step widths are not accepted. Try a positive "
                 "integer");
  }
  steps.step_ms = *step_ms;
  ASSIGN_OR_RETURN(const promql::EvalOptions eval, EvalOptionsOf(form, bounds));
  const auto span = promql::QuerySpan::Of(steps.start_ms, steps.end_ms, steps.step_ms);
  ASSIGN_OR_RETURN(const std::string text, QueryTextOf(form, options_.limits.max_query_bytes));
  const auto expr = promql::ParseFor(span, text, options_.dialect);
  if (!expr.ok()) {
    // As Prometheus 2 has it: without the name of the parameter.
    if (options_.dialect == promql::Dialect::k2) return expr.status();
    return promql::InvalidParameter("query", expr.status());
  }
  ASSIGN_OR_RETURN(std::vector<promql::Range> series,
                   promql::EvalRange(**expr, store_, steps, eval));
  ReturnIfMuch(bounds.memory);
  const bool truncated = Truncate(limit, series);
  const size_t most_bytes = MaxAnswerBytes(promql::BytesOf(series));
  return Checked(promql::QueryRangeDataJson(series, most_bytes), most_bytes, truncated);
}

absl::StatusOr<QueryPages::Answered> QueryPages::List(absl::string_view path, const Form& form,
                                                      const Bounds& bounds) const {
  ASSIGN_OR_RETURN(const size_t limit, form.Limit());
  const ListLimits limits = {.max_match = options_.limits.max_match,
                             .max_selector_bytes = options_.limits.max_query_bytes,
                             .max_answer_bytes = options_.limits.max_answer_bytes,
                             .memory = bounds.memory,
                             .limit = limit,
                             .interrupted = EndAt(bounds.deadline)};
  ASSIGN_OR_RETURN(const SeriesChoice choice, SeriesChoiceOf(form, options_.dialect, limits));
  JsonList list;
  if (absl::EndsWith(path, "/series")) {
    ASSIGN_OR_RETURN(list, ListSeries(choice, store_, limits));
  } else if (absl::EndsWith(path, "/labels")) {
    ASSIGN_OR_RETURN(list, ListLabelNames(choice, store_, limits));
  } else {
    const absl::string_view name = absl::StripSuffix(absl::StripPrefix(path, kLabel), kValues);
    ASSIGN_OR_RETURN(const std::string label,
                     LabelNamed(go::Unescape(name, /*plus_is_space=*/false), options_.dialect));
    ASSIGN_OR_RETURN(list, ListLabelValues(label, choice, store_, limits));
  }
  return Checked(std::move(list.json), limits.max_answer_bytes, list.truncated);
}

absl::StatusOr<QueryPages::Answered> QueryPages::Metadata(const Form& form,
                                                          const Bounds& bounds) const {
  // There is one item for each name, so limit_per_metric has no effect.
  int64_t limit = -1;
  if (const std::string text = form.Value("limit"); !text.empty()) {
    if (!absl::SimpleAtoi(text, &limit)) {
      return absl::InvalidArgumentError("limit must be a number");
    }
  }
  const std::string only = form.Value("metric");
  const auto all = metadata_.All();
  size_t bytes = 0;
  for (const auto& [name, metadata] : all) {
    bytes += sizeof all[0] + name.size() + metadata.help.size() + metadata.unit.size();
  }
  RETURN_IF_ERROR(bounds.memory.Keep(bytes));
  const size_t most_bytes = MaxAnswerBytes(bytes);
  std::string json = "{";
  int64_t items = 0;
  for (const auto& [name, metadata] : all) {
    if (!only.empty() && name != only) continue;
    if (limit >= 0 && items++ == limit) break;
    if (json.size() > 1) json.push_back(',');
    AppendMetadata(name, metadata, &json);
    if (json.size() > most_bytes) break;
  }
  json.push_back('}');
  return Checked(std::move(json), most_bytes, /*truncated=*/false);
}

}  // namespace flyball::live
