// The values that exposition formats are read into: samples of series, and metadata of families.
//
// Pure values. A view is valid only during the call that passes it.
// Times are int64 milliseconds since the epoch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"

namespace flyball::formats {

// The limits of a series in any store. Readers check them before any other work on a text, since
// one request may use the same text for each of its series.
inline constexpr size_t kMaxLabels = 64;
inline constexpr size_t kMaxLabelNameBytes = 256;
inline constexpr size_t kMaxLabelValueBytes = 4096;

// Limit for a series as sent, before the rules of a scrape drop some labels, so that reading one
// series takes little memory, whatever the page. Remote write also counts labels without a value.
inline constexpr size_t kMaxSentLabels = 1024;
// Limit for the text that names a scraped series: the length of kMaxLabels of the greatest lengths
// with all their bytes escaped, and `"":"",` and some blanks around each.
inline constexpr size_t kMaxSeriesText =
    kMaxLabels * (2 * (kMaxLabelNameBytes + kMaxLabelValueBytes) + 8);

// The type in a TYPE line. Prometheus's `untyped` is kUnknown. The numbers are remote write's.
enum class MetricType : uint8_t {
  kUnknown,
  kCounter,
  kGauge,
  kHistogram,
  kGaugeHistogram,
  kSummary,
  kInfo,
  kStateset,
};

// The word in OpenMetrics: `counter`, `unknown`, …
absl::string_view MetricTypeName(MetricType type);

struct LabelView {
  absl::string_view name;
  absl::string_view value;
  friend bool operator==(const LabelView&, const LabelView&) = default;
};

// One sample of a scraped page.
struct ScrapedSample {
  // The bytes that name the series, `name{label="value",…}`, with valid syntax. A reader that has
  // seen them before recognises the series by them; otherwise SeriesLabels parses them.
  absl::string_view series;
  // The type of the last family before this sample, as in Prometheus; SeriesLabels needs it.
  MetricType type = MetricType::kUnknown;
  std::optional<int64_t> time_ms;  // nullopt: the page has no stamp for it
  double value = 0;                // a NaN is either NormalNan or the staleness marker
};

// The metadata of a family in one line or message: only the fields that it has.
struct FamilyMetadata {
  absl::string_view name;
  std::optional<MetricType> type;
  std::optional<absl::string_view> help;
  std::optional<absl::string_view> unit;
};

// Gets what a parser finds, in the order of the page. If a page fails, what came before has been
// passed: a caller that wants all or nothing keeps the samples until the parser is done.
class ScrapeSink {
 public:
  virtual ~ScrapeSink() = default;
  virtual void OnSample(const ScrapedSample& sample) = 0;
  virtual void OnMetadata(const FamilyMetadata& metadata) = 0;
};

}  // namespace flyball::formats
