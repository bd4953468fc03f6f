#include "adapter/prometheus/json.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/charconv.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "adapter/queries/failure_notes.h"
#include "base/go/text.h"
#include "base/status_macros.h"
#include "simdjson.h"

namespace flyball::adapter::prometheus {
namespace {

namespace sj = simdjson::ondemand;

constexpr size_t kShownBytes = 80;
constexpr size_t kMaxErrorText = 500;

absl::string_view View(std::string_view s) { return {s.data(), s.size()}; }

// The beginning of the body, in a form that fits a log line.
std::string Shown(absl::string_view body) {
  std::string shown(body.substr(0, kShownBytes));
  for (char& c : shown) {
    if (c < 0x20 || c > 0x7e) c = '.';
  }
  if (body.size() > kShownBytes) shown += "...";
  return shown;
}

// Within this file kDataLoss means that the body is no answer of the API; Parse adds the body's
// beginning to the text.
absl::Status Malformed(absl::string_view where, absl::string_view what) {
  return absl::DataLossError(absl::StrCat(where, ": ", what));
}

#define TRY_JSON(where, expr)                                         \
  do {                                                                \
    if (const simdjson::error_code json_error = (expr); json_error) { \
      return Malformed(where, simdjson::error_message(json_error));   \
    }                                                                 \
  } while (false)

// A text field that may be missing. After any other error the parser must not be used again.
absl::Status OptionalText(sj::object& object, std::string_view field, std::string_view& text) {
  const simdjson::error_code error = object.find_field_unordered(field).get_string().get(text);
  if (error && error != simdjson::NO_SUCH_FIELD) TRY_JSON(View(field), error);
  return absl::OkStatus();
}

absl::Status ErrorAnswer(sj::object& root) {
  std::string_view type = "error", text = "no error text";
  RETURN_IF_ERROR(OptionalText(root, "errorType", type));
  RETURN_IF_ERROR(OptionalText(root, "error", text));
  const std::string message = absl::StrCat(View(type), ": ", View(text.substr(0, kMaxErrorText)));
  if (type == "bad_data" || type == "execution") return absl::InvalidArgumentError(message);
  for (const std::string_view of_server : {"timeout", "canceled", "internal", "unavailable"}) {
    if (type == of_server) return absl::UnavailableError(message);
  }
  return absl::UnknownError(message);
}

// Opens the envelope and hands `data`, which may be null, to `on_data`.
template <typename OnData>
absl::Status ParseEnvelope(const std::string& body, sj::parser& parser, OnData on_data) {
  sj::document document;
  TRY_JSON("body", parser.iterate(simdjson::padded_string_view(body)).get(document));
  sj::object root;
  TRY_JSON("body", document.get_object().get(root));
  std::string_view status;
  RETURN_IF_ERROR(OptionalText(root, "status", status));
  if (status == "error") return ErrorAnswer(root);
  sj::value data;
  TRY_JSON("data", root.find_field_unordered("data").get(data));
  return on_data(data);
}

// As Go reads it: U+FFFD for each byte that belongs to no character.
std::string WithReplacements(absl::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  for (size_t bad; (bad = go::FindNoUtf8(text)) != absl::string_view::npos;) {
    absl::StrAppend(&out, text.substr(0, bad), "\uFFFD");
    text.remove_prefix(bad + 1);
  }
  absl::StrAppend(&out, text);
  return out;
}

// Parsers to be used again. One takes several times the longest body that it has read, so only a
// few are kept, whatever the number of threads, and none that has read an unusually long one.
class Parsers {
 public:
  static Parsers& Kept() {
    static Parsers& kept = *new Parsers;
    return kept;
  }

  std::unique_ptr<sj::parser> Take() {
    absl::MutexLock lock(&mutex_);
    if (kept_.empty()) return std::make_unique<sj::parser>();
    std::unique_ptr<sj::parser> last = std::move(kept_.back());
    kept_.pop_back();
    return last;
  }
  void Return(std::unique_ptr<sj::parser> parser) {
    if (parser->capacity() > kMaxBodyBytes) return;
    absl::MutexLock lock(&mutex_);
    if (kept_.size() < kMost) kept_.push_back(std::move(parser));
  }

 private:
  static constexpr size_t kMaxBodyBytes = 1u << 20;
  static constexpr size_t kMost = 8;

  absl::Mutex mutex_;
  std::vector<std::unique_ptr<sj::parser>> kept_ ABSL_GUARDED_BY(mutex_);
};

template <typename OnData>
absl::Status Parse(std::string& body, OnData on_data) {
  body.reserve(body.size() + simdjson::SIMDJSON_PADDING);
  std::unique_ptr<sj::parser> parser = Parsers::Kept().Take();
  const absl::Status status = ParseEnvelope(body, *parser, on_data);
  Parsers::Kept().Return(std::move(parser));
  if (!absl::IsDataLoss(status)) return status;
  // The parser looks for such bytes before it reads anything.
  if (!go::IsUtf8(body)) {
    body = WithReplacements(body);
    return Parse(body, on_data);
  }
  return absl::UnavailableError(absl::StrCat("not an answer of the Prometheus API: ",
                                             status.message(), "; it begins `", Shown(body), "`"));
}

// ---- /api/v1/query ----

// Go's ParseFloat: "NaN", "+Inf", exponents. Beyond the range of a double: infinite.
bool ParseValue(absl::string_view text, double& value) {
  if (absl::ConsumePrefix(&text, "+") && absl::StartsWith(text, "-")) return false;
  const auto [end, error] = absl::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || text.empty()) return false;
  if (error == std::errc::result_out_of_range && std::abs(value) > 1) {
    value = std::copysign(std::numeric_limits<double>::infinity(), value);
  }
  return error == std::errc() || error == std::errc::result_out_of_range;
}

// A number with underscores between digits, which Go reads and no Prometheus writes.
bool HasDigitGroups(absl::string_view text) {
  const auto is_digit = [&](size_t i) { return i < text.size() && absl::ascii_isdigit(text[i]); };
  for (size_t at = text.find('_'); at != absl::string_view::npos; at = text.find('_', at + 1)) {
    if (at == 0 || !is_digit(at - 1) || !is_digit(at + 1)) return false;
  }
  double value = 0;
  return ParseValue(absl::StrReplaceAll(text, {{"_", ""}}), value);
}

// Seconds with a fraction, cut to milliseconds. Like Prometheus' Go library, which reads the parts
// on both sides of the point separately, a fraction makes a time before the epoch later: -5.5 is
// -4.5. Only -0.5 is not changed.
absl::Status ParseTime(double seconds, absl::Time& time) {
  constexpr double kYear9999 = 253402300800.0;
  if (!(std::abs(seconds) < kYear9999)) return Malformed("result", "a time out of range");
  // A double near now is off by up to 0.0002 ms: 1700000000.123 must not become .122.
  const auto millis = static_cast<int64_t>(std::floor(std::abs(seconds) * 1000 + 0.001));
  const int64_t fraction = millis % 1000;
  if (seconds >= 0) {
    time = absl::FromUnixMillis(millis);
  } else {
    time = absl::FromUnixMillis(millis < 1000 ? -fraction : fraction - (millis - fraction));
  }
  return absl::OkStatus();
}

// [time, "value"].
absl::Status ParsePoint(sj::value json, Sample& sample) {
  sj::array point;
  TRY_JSON("value", json.get_array().get(point));
  int index = 0;
  for (auto element : point) {
    if (index == 0) {
      double seconds;
      TRY_JSON("time", element.get_double().get(seconds));
      RETURN_IF_ERROR(ParseTime(seconds, sample.time));
    } else if (index == 1) {
      std::string_view text;
      TRY_JSON("sample value", element.get_string().get(text));
      if (!ParseValue(View(text), sample.value)) {
        if (!HasDigitGroups(View(text))) return Malformed("sample value", "not a number");
        // An infinite value makes ValueGuard leave out this sample alone.
        sample.value = std::numeric_limits<double>::infinity();
      }
    }
    ++index;
  }
  if (index != 2) return Malformed("value", "not a pair of time and value");
  return absl::OkStatus();
}

// [time, {buckets...}]: the value stays 0.
absl::Status ParseHistogramPoint(sj::value json, Sample& sample) {
  sj::array point;
  TRY_JSON("histogram", json.get_array().get(point));
  bool first = true;
  for (auto element : point) {
    sj::value value;
    TRY_JSON("histogram", element.get(value));
    if (std::exchange(first, false)) {
      double seconds;
      TRY_JSON("time", value.get_double().get(seconds));
      RETURN_IF_ERROR(ParseTime(seconds, sample.time));
    }
  }
  return absl::OkStatus();
}

absl::Status ParseLabels(sj::value json, LabelSet& labels) {
  sj::object metric;
  TRY_JSON("metric", json.get_object().get(metric));
  for (auto field : metric) {
    std::string_view name, value;
    TRY_JSON("label name", field.unescaped_key().get(name));
    TRY_JSON("label value", field.value().get_string().get(value));
    labels.emplace_back(name, value);
  }
  const auto name_of = [](const auto& label) -> const std::string& { return label.first; };
  const auto not_after = [&](const auto& a, const auto& b) { return !(name_of(a) < name_of(b)); };
  if (std::adjacent_find(labels.begin(), labels.end(), not_after) == labels.end()) {
    return absl::OkStatus();  // sorted, each name once: what every Prometheus sends
  }
  std::stable_sort(labels.begin(), labels.end(),
                   [&](const auto& a, const auto& b) { return name_of(a) < name_of(b); });
  // If a name is given twice the last one counts, as in Go's maps.
  size_t kept = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    if (i + 1 < labels.size() && name_of(labels[i]) == name_of(labels[i + 1])) continue;
    if (kept != i) labels[kept] = std::move(labels[i]);
    ++kept;
  }
  labels.resize(kept);
  return absl::OkStatus();
}

absl::Status ParseSample(sj::object json, Sample& sample) {
  for (auto field : json) {
    std::string_view key;
    TRY_JSON("sample", field.unescaped_key().get(key));
    sj::value value;
    TRY_JSON("sample", field.value().get(value));
    if (key == "metric") RETURN_IF_ERROR(ParseLabels(value, sample.labels));
    if (key == "value") RETURN_IF_ERROR(ParsePoint(value, sample));
    if (key == "histogram") RETURN_IF_ERROR(ParseHistogramPoint(value, sample));
  }
  return absl::OkStatus();
}

size_t MemoryOf(const LabelSet& labels) {
  size_t bytes = labels.capacity() * sizeof(labels[0]);
  for (const auto& [name, value] : labels) {
    constexpr size_t kInPlace = 15;  // which takes no more memory
    if (name.size() > kInPlace) bytes += name.size();
    if (value.size() > kInPlace) bytes += value.size();
  }
  return bytes;
}

absl::Status ParseVector(sj::value json, std::vector<Sample>& samples) {
  // Most samples have as many labels as the one before, so that room for more would be wasted.
  constexpr size_t kMostExpected = 16;
  size_t expected = 0;
  size_t bytes = 0;
  sj::array vector;
  TRY_JSON("result", json.get_array().get(vector));
  for (auto element : vector) {
    sj::object object;
    TRY_JSON("result", element.get_object().get(object));
    Sample& sample = samples.emplace_back();
    sample.labels.reserve(expected);
    RETURN_IF_ERROR(ParseSample(object, sample));
    expected = std::min(sample.labels.size(), kMostExpected);
    bytes += sizeof(Sample) + MemoryOf(sample.labels);
    if (bytes > kMaxSampleBytes) {
      return SourceAnswerTooLong(
          absl::StrCat("the samples of the answer take more than ", kMaxSampleBytes, " bytes"));
    }
  }
  return absl::OkStatus();
}

absl::Status ParseQueryData(sj::value json, QueryResult& out) {
  sj::object data;
  TRY_JSON("data", json.get_object().get(data));
  std::string_view type;
  TRY_JSON("resultType", data.find_field_unordered("resultType").get_string().get(type));
  if (type == "vector") {
    out.type = QueryResult::Type::kVector;
  } else if (type == "scalar") {
    out.type = QueryResult::Type::kScalar;
  } else if (type == "matrix") {
    out.type = QueryResult::Type::kMatrix;
  } else if (type == "string") {
    out.type = QueryResult::Type::kString;
  } else {
    return Malformed("resultType", "not vector, scalar, matrix or string");
  }
  sj::value result;
  TRY_JSON("result", data.find_field_unordered("result").get(result));
  bool null = false;
  TRY_JSON("result", result.is_null().get(null));
  if (null) {
    out.null_result = true;
    return absl::OkStatus();
  }
  if (out.type == QueryResult::Type::kVector) return ParseVector(result, out.samples);
  if (out.type == QueryResult::Type::kScalar) return ParsePoint(result, out.samples.emplace_back());
  return absl::OkStatus();
}

// ---- /api/v1/query of a range selector ----

absl::Status ParsePastSeries(sj::object json, PastSeries& series) {
  for (auto field : json) {
    std::string_view key;
    TRY_JSON("series", field.unescaped_key().get(key));
    sj::value value;
    TRY_JSON("series", field.value().get(value));
    if (key == "metric") RETURN_IF_ERROR(ParseLabels(value, series.labels));
    if (key != "values") continue;
    sj::array values;
    TRY_JSON("values", value.get_array().get(values));
    for (auto element : values) {
      sj::value point;
      TRY_JSON("values", element.get(point));
      Sample sample;
      RETURN_IF_ERROR(ParsePoint(point, sample));
      const int64_t time_ms = absl::ToUnixMillis(sample.time);
      if (!series.points.empty() && series.points.back().time_ms >= time_ms) {
        return Malformed("values", "times do not rise");
      }
      series.points.push_back({time_ms, sample.value});
    }
  }
  return absl::OkStatus();
}

absl::Status ParsePastData(sj::value json, std::vector<PastSeries>& out) {
  sj::object data;
  TRY_JSON("data", json.get_object().get(data));
  std::string_view type;
  TRY_JSON("resultType", data.find_field_unordered("resultType").get_string().get(type));
  if (type != "matrix") return Malformed("resultType", "not matrix");
  sj::array matrix;
  TRY_JSON("result", data.find_field_unordered("result").get_array().get(matrix));
  for (auto element : matrix) {
    sj::object series;
    TRY_JSON("result", element.get_object().get(series));
    RETURN_IF_ERROR(ParsePastSeries(series, out.emplace_back()));
    if (out.back().points.empty()) out.pop_back();
  }
  return absl::OkStatus();
}

// ---- /api/v1/series ----

// Distinct (name, label names) and the place of the last occurrence of each. Values are skipped,
// not decoded; a series seen before costs one hash lookup and no memory.
class DistinctSeries {
 public:
  absl::Status Add(sj::object series) {
    key_.clear();
    std::string_view name;
    bounds_.clear();
    for (auto field : series) {
      std::string_view label;
      TRY_JSON("label name", field.unescaped_key().get(label));
      sj::value value;
      TRY_JSON("label value", field.value().get(value));
      if (label == "__name__") {
        TRY_JSON("__name__", value.get_string().get(name));
        continue;
      }
      key_.append(label);
      key_.push_back(kSeparator);
      bounds_.push_back(key_.size());
    }
    key_.append(name);
    ++count_;
    if (const auto it = index_.find(key_); it != index_.end()) {
      last_[it->second] = count_;
      return absl::OkStatus();
    }
    index_.emplace(key_, found_.size());
    last_.push_back(count_);
    SeriesName& added = found_.emplace_back();
    added.name = std::string(name);
    added.labels.reserve(bounds_.size());
    size_t begin = 0;
    for (const size_t end : bounds_) {
      added.labels.emplace_back(key_, begin, end - 1 - begin);
      begin = end;
    }
    std::sort(added.labels.begin(), added.labels.end());
    return absl::OkStatus();
  }

  std::vector<SeriesName> Take() {
    std::vector<size_t> order(found_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(),
              [this](size_t a, size_t b) { return last_[a] < last_[b]; });
    std::vector<SeriesName> taken;
    taken.reserve(order.size());
    for (const size_t i : order) taken.push_back(std::move(found_[i]));
    return taken;
  }

 private:
  // A byte that is not in valid UTF-8.
  static constexpr char kSeparator = '\xff';

  std::string key_;             // label names, each with a separator, then the series name
  std::vector<size_t> bounds_;  // where each label name of key_ ends, separator included
  size_t count_ = 0;
  absl::flat_hash_map<std::string, size_t> index_;
  std::vector<SeriesName> found_;
  std::vector<size_t> last_;
};

absl::Status ParseSeriesData(sj::value json, DistinctSeries& distinct) {
  bool null = false;
  TRY_JSON("data", json.is_null().get(null));
  if (null) return absl::UnavailableError("the list of series is null");
  sj::array list;
  TRY_JSON("data", json.get_array().get(list));
  for (auto element : list) {
    sj::object series;
    TRY_JSON("data", element.get_object().get(series));
    RETURN_IF_ERROR(distinct.Add(series));
  }
  return absl::OkStatus();
}

absl::Status ParseBuildInfoData(sj::value json, std::string& version) {
  std::string_view text;
  TRY_JSON("data", json.find_field_unordered("version").get_string().get(text));
  version = Shown(View(text));
  return absl::OkStatus();
}

#undef TRY_JSON

}  // namespace

std::optional<absl::Time> TimeOfText(absl::string_view text) {
  double seconds = 0;
  absl::Time time;
  if (!ParseValue(text, seconds) || !ParseTime(seconds, time).ok()) return std::nullopt;
  return time;
}

absl::StatusOr<QueryResult> ParseQueryAnswer(std::string body) {
  QueryResult result;
  RETURN_IF_ERROR(Parse(body, [&](sj::value data) { return ParseQueryData(data, result); }));
  return result;
}

absl::StatusOr<std::vector<PastSeries>> ParsePastAnswer(std::string body) {
  std::vector<PastSeries> series;
  RETURN_IF_ERROR(Parse(body, [&](sj::value data) { return ParsePastData(data, series); }));
  return series;
}

absl::StatusOr<std::vector<SeriesName>> ParseSeriesAnswer(std::string body) {
  DistinctSeries distinct;
  RETURN_IF_ERROR(Parse(body, [&](sj::value data) { return ParseSeriesData(data, distinct); }));
  return distinct.Take();
}

absl::StatusOr<std::string> ParseBuildInfoAnswer(std::string body) {
  std::string version;
  RETURN_IF_ERROR(Parse(body, [&](sj::value data) { return ParseBuildInfoData(data, version); }));
  return version;
}

}  // namespace flyball::adapter::prometheus
