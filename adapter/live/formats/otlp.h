// Reads metrics of OpenTelemetry's protocol, OTLP 1.x: turns the body of an export request into
// data points.
//
// Pure; safe on any thread. Both encodings give the same result; unknown fields are ignored.
// Times are int64 nanoseconds since the epoch, as they are sent.
//
// Source: opentelemetry/proto (collector/metrics/v1, metrics/v1, common/v1) of the protocol's Go
// module 1.11.0. Protobuf is read field by field from the wire; JSON becomes a tree first, of up to
// 13 times the size of the text.
// Limits: the constants below. They are checked while a list is read, so that no memory is taken
// for items beyond them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace flyball::formats {

enum class OtlpEncoding { kProtobuf, kJson };

// The encoding that a request's Content-Type names; the case does not matter.
//   kUnimplemented  another media type: HTTP's 415
absl::StatusOr<OtlpEncoding> OtlpEncodingOf(absl::string_view content_type);

inline constexpr size_t kMaxBuckets = 1024;  // of a histogram, and quantiles of a summary
// Counts on one side of an exponential histogram as sent, before finer ones are added up.
inline constexpr size_t kMaxExponents = 16'384;
// For a resource or a point. If there are more, only one more than this is read.
inline constexpr size_t kMaxAttributes = 256;
inline constexpr int kMaxAttributeNesting = 32;
// For all lists and maps of one attribute. The text of that many items is too long for a label.
inline constexpr size_t kMaxAttributeItems = 2048;

// An attribute with its value as text: a value that is no string is written as JSON.
struct OtlpAttribute {
  std::string key;
  std::string value;
  // Key or value is too long for a label: the value is left out, and of a long key only the first
  // kMaxLabelNameBytes are kept.
  bool too_long = false;
};
using OtlpAttributes = std::vector<OtlpAttribute>;

enum class OtlpKind { kNone, kGauge, kSum, kHistogram, kExponentialHistogram, kSummary };
enum class OtlpTemporality { kUnspecified = 0, kDelta = 1, kCumulative = 2 };

struct OtlpMetric {
  absl::string_view name, description, unit;  // of any length; valid until the reader returns
  OtlpKind kind = OtlpKind::kNone;
  OtlpTemporality temporality = OtlpTemporality::kUnspecified;  // of sums and histograms
  bool monotonic = false;                                       // of sums
  size_t points = 0;
};

// The number of values that are at most `upper` and above the previous bound.
struct OtlpBucket {
  double upper = 0;
  double count = 0;
};

struct OtlpQuantile {
  double quantile = 0;
  double value = 0;
};

// One side of an exponential histogram: the first bucket's index, and the counts from there on.
struct OtlpExponents {
  int64_t offset = 0;
  std::vector<uint64_t> counts;
};

// A data point. The kind of its metric determines which fields are used.
struct OtlpPoint {
  OtlpAttributes attributes;
  int64_t start_ns = 0;  // 0: unknown
  int64_t time_ns = 0;
  bool no_value = false;  // the point says that the series has ended
  absl::Status status;    // not ok: why it must be refused

  double value = 0;  // of gauges and sums
  double count = 0;  // of histograms and summaries, like the next
  std::optional<double> sum;
  std::vector<OtlpBucket> buckets;      // of histograms: rising, without the one up to +Inf
  std::vector<OtlpQuantile> quantiles;  // of summaries

  // Of exponential histograms.
  int32_t scale = 0;
  double zero_count = 0;
  double zero_threshold = 0;
  OtlpExponents positive, negative;
};

// Receives what a reader finds: a resource before its metrics, and each metric before its points.
// References are valid during the call.
class OtlpSink {
 public:
  virtual ~OtlpSink() = default;
  virtual void OnResource(const OtlpAttributes& attributes) = 0;
  virtual void OnMetric(const OtlpMetric& metric) = 0;
  virtual void OnPoint(OtlpPoint& point) = 0;
  // The resource has no more metrics.
  virtual void OnResourceEnd() = 0;
};

// kInvalidArgument: the message is malformed; what came before the fault has been passed on.
absl::Status ReadOtlp(OtlpEncoding encoding, absl::string_view message, OtlpSink& sink);

// Gives an exponential histogram the buckets of a classic one, since the store has no native
// histograms. There are at most eight bounds for each power of two (scale 3, an error of 9 %);
// finer buckets are added up. So a sender that reduces its scale causes no new series as long as it
// stays at 3 or above.
//   kInvalidArgument  coarser than scale -4, or more than kMaxExponents or kMaxBuckets
absl::Status ExpandExponents(OtlpPoint& point);

}  // namespace flyball::formats
