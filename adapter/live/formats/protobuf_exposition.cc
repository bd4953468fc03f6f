#include "adapter/live/formats/protobuf_exposition.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "adapter/live/formats/protobuf_metric.h"
#include "adapter/live/formats/series_labels.h"
#include "adapter/live/formats/text_escapes.h"
#include "adapter/live/formats/text_scanner.h"
#include "adapter/live/formats/text_value.h"
#include "adapter/live/formats/wire_reader.h"
#include "base/go/text.h"
#include "base/status_macros.h"
#include "promql/engine/series.h"
#include "promql/text.h"

namespace flyball::formats {
namespace {

// Field numbers, by message.
namespace family_field {
constexpr int kName = 1, kHelp = 2, kType = 3, kMetric = 4, kUnit = 5;
}
namespace metric_field {
constexpr int kLabel = 1, kGauge = 2, kCounter = 3, kSummary = 4, kUntyped = 5, kTime = 6;
constexpr int kHistogram = 7;
}  // namespace metric_field
// Indexed by a family's number.
constexpr MetricType kTypes[] = {
    MetricType::kCounter, MetricType::kGauge,     MetricType::kSummary,
    MetricType::kUnknown, MetricType::kHistogram, MetricType::kGaugeHistogram,
};
// For each type, the field of a metric that has its value.
constexpr int kValueFields[] = {metric_field::kCounter,   metric_field::kGauge,
                                metric_field::kSummary,   metric_field::kUntyped,
                                metric_field::kHistogram, metric_field::kHistogram};

// Reads the families of one page one after the other, in memory that is taken once.
class FamilyReader {
 public:
  FamilyReader(ScrapeSink& sink, size_t text_bytes) : sink_(sink), text_bytes_(text_bytes) {}

  // Not OK: the page is beyond a limit on texts.
  const absl::Status& over_limit() const { return over_limit_; }

  bool Read(absl::string_view message) {
    FamilyMetadata metadata;
    uint64_t type = 0;
    size_t metrics = 0;
    const bool good = ReadFields(message, [&](WireReader& reader, int field) {
      if (field == family_field::kType) return reader.ReadVarint(&type);
      if (field == family_field::kName) return reader.ReadBytes(&metadata.name);
      if (field == family_field::kHelp) return reader.ReadBytes(&metadata.help.emplace());
      if (field == family_field::kUnit) return reader.ReadBytes(&metadata.unit.emplace());
      metrics += field == family_field::kMetric;
      return reader.Skip();
    });
    if (!good) return false;
    if (metrics == 0) return true;
    if (type >= std::size(kTypes) || metadata.name.empty() ||
        metadata.name.size() > kMaxLabelValueBytes || !go::IsUtf8(metadata.name) ||
        !go::IsUtf8(metadata.help.value_or(""))) {
      return false;
    }
    metadata.type = kTypes[type];
    sink_.OnMetadata(metadata);
    name_ = metadata.name;
    type_ = *metadata.type;
    value_field_ = kValueFields[type];
    return ReadMetrics(message);
  }

 private:
  bool ReadMetrics(absl::string_view message) {
    return ForEachPart(message, family_field::kMetric,
                       [this](absl::string_view part) { return ReadMetric(part); });
  }

  bool ReadMetric(absl::string_view message) {
    labels_.clear();
    MetricValue metric;
    std::optional<int64_t> time_ms;
    const bool good = ReadFields(message, [&](WireReader& reader, int field) {
      if (field == metric_field::kLabel) return ReadLabel(reader);
      if (field == value_field_) return ReadValue(reader, metric);
      if (field != metric_field::kTime) return reader.Skip();
      uint64_t number = 0;
      if (!reader.ReadVarint(&number)) return false;
      if (number != 0) time_ms = static_cast<int64_t>(number);
      return true;
    });
    return good && HandOver(metric, time_ms);
  }

  bool ReadValue(WireReader& reader, MetricValue& metric) const {
    if (value_field_ == metric_field::kSummary) return ReadSummaryValue(reader, metric);
    if (value_field_ == metric_field::kHistogram) return ReadHistogramValue(reader, metric);
    return ReadSimpleValue(reader, metric);
  }

  // Appends `name="value"`, as text has it.
  bool ReadLabel(WireReader& outer) {
    absl::string_view name, value;
    const bool good = ReadMessage(outer, [&](WireReader& reader, int field) {
      return field == 1   ? reader.ReadBytes(&name)
             : field == 2 ? reader.ReadBytes(&value)
                          : reader.Skip();
    });
    if (!good || name.empty()) return false;
    // Before it is copied: one label may be as long as the page, and escapes double it.
    if (labels_.size() + name.size() + value.size() > kMaxSeriesText) return SeriesTooLong();
    if (!go::IsUtf8(name) || !go::IsUtf8(value)) return false;
    if (!labels_.empty()) labels_.push_back(',');
    AppendName(name, /*colon_allowed=*/false, labels_);
    absl::StrAppend(&labels_, "=\"");
    AppendEscaped(value, labels_);
    labels_.push_back('"');
    return labels_.size() <= kMaxSeriesText || SeriesTooLong();
  }

  // Always false.
  bool SeriesTooLong() {
    over_limit_ = absl::ResourceExhaustedError(SeriesTextTooLong().message());
    return false;
  }

  // In quotes if it needs them.
  static void AppendName(absl::string_view name, bool colon_allowed, std::string& out) {
    if (promql::IsIdentifier(name, colon_allowed)) {
      absl::StrAppend(&out, name);
      return;
    }
    out.push_back('"');
    AppendEscaped(name, out);
    out.push_back('"');
  }

  bool HandOver(const MetricValue& metric, std::optional<int64_t> time_ms) {
    const bool summary = value_field_ == metric_field::kSummary;
    if (!summary && value_field_ != metric_field::kHistogram) {
      return HandOverOne("", "", 0, metric.value, time_ms);
    }
    if (!HandOverOne("_count", "", 0, metric.value, time_ms) ||
        !HandOverOne("_sum", "", 0, metric.sum, time_ms)) {
      return false;
    }
    for (const MetricStep& step : metric.steps) {
      if (!HandOverOne(summary ? "" : "_bucket", summary ? "quantile" : "le", step.at, step.value,
                       time_ms)) {
        return false;
      }
      if (!summary && std::isinf(step.at) && step.at > 0) return true;
    }
    return summary || HandOverOne("_bucket", "le", HUGE_VAL, metric.value, time_ms);
  }

  // One sample, of the label `bound` too if that is not empty. False: no room for its text.
  bool HandOverOne(absl::string_view suffix, absl::string_view bound, double at, double value,
                   std::optional<int64_t> time_ms) {
    const std::string name = absl::StrCat(name_, suffix);
    const bool plain = promql::IsIdentifier(name, /*colon_allowed=*/true);
    series_.clear();
    if (plain) absl::StrAppend(&series_, name);
    series_.push_back('{');
    if (!plain) AppendName(name, /*colon_allowed=*/true, series_);
    const auto comma = [this] {
      if (series_.back() != '{') series_.push_back(',');
    };
    if (!labels_.empty()) {
      comma();
      absl::StrAppend(&series_, labels_);
    }
    if (!bound.empty()) {
      comma();
      absl::StrAppend(&series_, bound, "=\"", FormatBound(at), "\"");
    }
    series_.push_back('}');
    if (series_.size() > text_bytes_) {
      over_limit_ = absl::ResourceExhaustedError(
          absl::StrCat("the names and labels of the page's samples are more than ", kMaxTextRatio,
                       " times as long as the page"));
      return false;
    }
    text_bytes_ -= series_.size();
    if (std::isnan(value) && !promql::IsStale(value)) value = NormalNan();
    sink_.OnSample({series_, type_, time_ms, value});
    return true;
  }

  ScrapeSink& sink_;
  size_t text_bytes_;  // that are left
  absl::Status over_limit_;
  absl::string_view name_;  // of the family
  MetricType type_ = MetricType::kUnknown;
  int value_field_ = 0;
  std::string labels_;  // of the metric
  std::string series_;
};

}  // namespace

absl::Status ParseProtobufExposition(absl::string_view page, ScrapeSink& sink) {
  FamilyReader reader(sink, std::max(kMinTextBytes, kMaxTextRatio * page.size()));
  const auto begin = reinterpret_cast<const uint8_t*>(page.data());
  for (size_t at = 0; at < page.size();) {
    // A new stream for each length, since a single one would end after 2 GiB.
    const size_t most = std::min<size_t>(page.size() - at, 10);
    google::protobuf::io::CodedInputStream stream(begin + at, static_cast<int>(most));
    uint32_t size = 0;
    const bool sized = stream.ReadVarint32(&size);
    const size_t family = at + static_cast<size_t>(stream.CurrentPosition());
    if (!sized || size > INT32_MAX || size > page.size() - family ||
        !reader.Read(page.substr(family, size))) {
      RETURN_IF_ERROR(reader.over_limit());
      return absl::InvalidArgumentError(
          absl::StrCat("byte ", at, ": no family of metrics begins here"));
    }
    at = family + size;
  }
  return absl::OkStatus();
}

}  // namespace flyball::formats
