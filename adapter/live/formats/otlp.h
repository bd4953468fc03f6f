// Metrics of OpenTelemetry's protocol, OTLP 1.x: the body of an export request to data points.
//
// Pure; safe on any thread. Both encodings give the same, and what is unknown in them is ignored.
// Times are int64 nanoseconds since the epoch, as they are sent.
//
// Source: opentelemetry/proto (collector/metrics/v1, metrics/v1, common/v1) of the protocol's Go
// module 1.11.0. Protobuf is read field by field from the wire; JSON is made a tree first, of up to
// 13 times the size of the text.
// Limits: the constants below, which are looked at while a list is read: of what is beyond them no
// memory is taken.
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

// Which one the headers of a request name, in any case, as HTTP has them.
//   kUnimplemented  another media type: HTTP's 415
absl::StatusOr<OtlpEncoding> OtlpEncodingOf(absl::string_view content_type);

inline constexpr size_t kMaxBuckets = 1024;  // of a histogram, and quantiles of a summary
// Counts on one side of an exponential histogram as it is sent, before finer ones are added up.
inline constexpr size_t kMaxExponents = 16'384;
// Of a resource or a point. Where there are more, one more than these is read.
inline constexpr size_t kMaxAttributes = 256;
inline constexpr int kMaxAttributeNesting = 32;
// In lists and maps of one attribute together. The text of so many is too long for a label.
inline constexpr size_t kMaxAttributeItems = 2048;

// The value as text: what is no string, as JSON.
struct OtlpAttribute {
  std::string key;
  std::string value;
  bool too_long = false;  // no label has room for the value, which is left out
};
using OtlpAttributes = std::vector<OtlpAttribute>;

enum class OtlpKind { kNone, kGauge, kSum, kHistogram, kExponentialHistogram, kSummary };
enum class OtlpTemporality { kUnspecified = 0, kDelta = 1, kCumulative = 2 };

struct OtlpMetric {
  std::string name, description, unit;
  OtlpKind kind = OtlpKind::kNone;
  OtlpTemporality temporality = OtlpTemporality::kUnspecified;  // of sums and histograms
  bool monotonic = false;                                       // of sums
  size_t points = 0;
};

// How many values are at most `upper`, and above the bound before it.
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

// Which fields count follows from the kind of its metric.
struct OtlpPoint {
  OtlpAttributes attributes;
  int64_t start_ns = 0;  // 0: unknown
  int64_t time_ns = 0;
  bool no_value = false;  // it says that the series has ended
  absl::Status status;    // not ok: why it must be refused

  double value = 0;  // of gauges and sums
  double count = 0;  // of histograms and summaries, like the next
  std::optional<double> sum;
  std::vector<OtlpBucket> buckets;      // of histograms: rising, without the last one up to +Inf
  std::vector<OtlpQuantile> quantiles;  // of summaries

  // Of exponential histograms.
  int32_t scale = 0;
  double zero_count = 0;
  double zero_threshold = 0;
  OtlpExponents positive, negative;
};

// Takes what a reader finds. Whoever sent the metrics is told before them; each metric before its
// points. References are valid during the call.
class OtlpSink {
 public:
  virtual ~OtlpSink() = default;
  virtual void OnResource(const OtlpAttributes& attributes) = 0;
  virtual void OnMetric(const OtlpMetric& metric) = 0;
  virtual void OnPoint(OtlpPoint& point) = 0;
  // There are no more metrics of the resource.
  virtual void OnResourceEnd() = 0;
};

// kInvalidArgument: this is no such message; what came before has been handed over.
absl::Status ReadOtlp(OtlpEncoding encoding, absl::string_view message, OtlpSink& sink);

// Gives an exponential histogram the buckets of a classic one. A store without native histograms
// has them so: eight bounds for each power of two at most (scale 3, which errs by 9 %), and what is
// finer is added up, so that a sender that coarsens its scale changes no series until then.
//   kInvalidArgument  coarser than scale -4, or more than kMaxExponents or kMaxBuckets
absl::Status ExpandExponents(OtlpPoint& point);

}  // namespace flyball::formats
