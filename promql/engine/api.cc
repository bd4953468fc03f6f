#include "promql/engine/api.h"

#include <cmath>
#include <cstdlib>
#include <optional>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "base/go/text.h"
#include "base/one_line.h"
#include "promql/text.h"

namespace flyball::promql {
namespace {

// Seconds, with three decimals if they are not whole.
void AppendTime(int64_t time_ms, std::string* out) {
  const int64_t ms = std::abs(time_ms);
  absl::StrAppend(out, time_ms < 0 ? "-" : "", ms / 1000);
  if (ms % 1000 != 0) absl::StrAppendFormat(out, ".%03d", ms % 1000);
}

void AppendPoint(int64_t time_ms, absl::string_view value, std::string* out) {
  out->push_back('[');
  AppendTime(time_ms, out);
  out->push_back(',');
  AppendJsonText(value, out);
  out->push_back(']');
}

template <typename SetOfLabels>
void AppendMetric(const SetOfLabels& labels, std::string* out) {
  absl::StrAppend(out, "{\"metric\":{");
  for (const auto& [name, value] : labels) {
    if (out->back() != '{') out->push_back(',');
    AppendJsonText(name, out);
    out->push_back(':');
    AppendJsonText(value, out);
  }
  out->push_back('}');
}

std::string Opened(absl::string_view type) {
  return absl::StrCat("{\"resultType\":\"", type, "\",\"result\":");
}

// A long text gets all the room that it may take: growing, it would take up to three times that
// while it moves. The system provides no memory for unused room.
void MakeRoom(size_t most_bytes, std::string* out) {
  constexpr size_t kLong = size_t{1} << 20;
  constexpr size_t kRest = 64 << 10;  // what is written after the last look at the length
  if (most_bytes == std::string::npos || out->size() < kLong) return;
  if (out->capacity() < most_bytes + kRest) out->reserve(most_bytes + kRest);
}

std::string MatrixJson(const std::vector<Range>& series, size_t most_bytes) {
  std::string out = absl::StrCat(Opened("matrix"), "[");
  for (const Range& range : series) {
    if (out.size() > most_bytes) return out;
    MakeRoom(most_bytes, &out);
    if (out.back() != '[') out.push_back(',');
    AppendMetric(range.labels, &out);
    absl::StrAppend(&out, ",\"values\":[");
    for (const Point& point : range.points) {
      if (out.size() > most_bytes) return out;
      if (out.back() != '[') out.push_back(',');
      AppendPoint(point.time_ms, FormatValue(point.value), &out);
    }
    absl::StrAppend(&out, "]}");
  }
  absl::StrAppend(&out, "]}");
  return out;
}

std::string VectorJson(const Vector& vector, int64_t time_ms, size_t most_bytes) {
  std::string out = absl::StrCat(Opened("vector"), "[");
  for (const Element& element : vector) {
    if (out.size() > most_bytes) return out;
    MakeRoom(most_bytes, &out);
    if (out.back() != '[') out.push_back(',');
    AppendMetric(element.labels, &out);
    absl::StrAppend(&out, ",\"value\":");
    AppendPoint(time_ms, FormatValue(element.value), &out);
    out.push_back('}');
  }
  absl::StrAppend(&out, "]}");
  return out;
}

std::string SingleJson(absl::string_view type, int64_t time_ms, absl::string_view value) {
  std::string out = Opened(type);
  AppendPoint(time_ms, value, &out);
  return absl::StrCat(out, "}");
}

absl::string_view ErrorType(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kResourceExhausted: return "execution";
    case absl::StatusCode::kDeadlineExceeded: return "timeout";
    case absl::StatusCode::kCancelled: return "canceled";
    case absl::StatusCode::kInternal: return "internal";
    default: return "bad_data";
  }
}

// As Go's ParseFloat, but finite and such that it fits as milliseconds.
std::optional<int64_t> MillisecondsOf(absl::string_view seconds) {
  const auto value = ParseBound(seconds);
  if (!value || !(std::fabs(*value) <= 9.2e15)) return std::nullopt;
  return std::llround(*value * 1000);
}

}  // namespace

void AppendJsonText(absl::string_view text, std::string* out) {
  go::AppendJsonString(text, out, {.html = false, .letters = false, .separators = false});
}

absl::StatusOr<int64_t> ParseApiTimeMs(absl::string_view text) {
  if (const auto ms = MillisecondsOf(text)) return *ms;
  absl::Time time;
  std::string error;
  if (absl::ParseTime(absl::RFC3339_full, text, &time, &error)) return absl::ToUnixMillis(time);
  return absl::InvalidArgumentError(
      absl::StrCat("cannot parse ", Quote(Abridged(text)), " to a valid timestamp"));
}

absl::StatusOr<int64_t> ParseApiDurationMs(absl::string_view text) {
  if (const auto ms = MillisecondsOf(text)) return *ms;
  if (const auto ms = ParseDurationMs(text); ms.ok()) return *ms;
  return absl::InvalidArgumentError(
      absl::StrCat("cannot parse ", Quote(Abridged(text)), " to a valid duration"));
}

std::string QueryDataJson(const Value& value, int64_t time_ms, size_t most_bytes) {
  // Unlike the values of series, a scalar is never written with an exponent.
  if (const auto* scalar = std::get_if<double>(&value)) {
    return SingleJson("scalar", time_ms, FormatPlain(*scalar));
  }
  if (const auto* text = std::get_if<std::string>(&value)) {
    return SingleJson("string", time_ms, *text);
  }
  if (const auto* matrix = std::get_if<Matrix>(&value)) {
    return MatrixJson(matrix->series, most_bytes);
  }
  return VectorJson(std::get<Vector>(value), time_ms, most_bytes);
}

std::string QueryRangeDataJson(const std::vector<Range>& series, size_t most_bytes) {
  return MatrixJson(series, most_bytes);
}

std::string ErrorJson(const absl::Status& status) {
  std::string out = absl::StrCat("{\"status\":\"error\",\"errorType\":\"", ErrorType(status.code()),
                                 "\",\"error\":");
  AppendJsonText(status.message(), &out);
  return absl::StrCat(out, "}");
}

absl::Status InvalidParameter(absl::string_view name, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat("invalid parameter ", Quote(name), ": ", status.message()));
}

}  // namespace flyball::promql
