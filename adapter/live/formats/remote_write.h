// Reads Prometheus remote write, 1.0 and 2.0: turns the body of a request into series with their
// samples.
//
// Pure; safe on any thread. A view is valid only during the call that passes it.
// Times are int64 milliseconds since the epoch.
//
// Source: prompb/remote.proto, prompb/types.proto and prompb/io/prometheus/write/v2/types.proto of
// Prometheus 3.15.0, read field by field from the wire: no message tree is made.
// Limits: the decoded size; kMaxSymbols; kMaxSeriesSamples; kMaxSentLabels; labels of a series as
// NormalizeLabels says.
// Anything beyond the limits is refused, so that memory stays a small multiple of the request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "adapter/live/formats/samples.h"
#include "promql/labels.h"

namespace flyball::formats {

enum class WriteVersion { k1, k2 };

// The version in the headers of a request; names and media types in any case, as in HTTP.
//   kUnimplemented  another media type, message or encoding: HTTP's 415
absl::StatusOr<WriteVersion> WriteVersionOf(absl::string_view content_type,
                                            absl::string_view content_encoding);

// Decodes Snappy's block format.
//   kInvalidArgument    the bytes are not in that format
//   kResourceExhausted  the length in them is above `limit` bytes
//   kUnavailable        has_room(bytes) returned false
absl::StatusOr<std::string> UncompressSnappy(
    absl::string_view body, size_t limit,
    absl::FunctionRef<bool(size_t)> has_room = [](size_t) { return true; });

// An entry of each takes two bytes of a request, and sixteen in memory.
inline constexpr size_t kMaxSymbols = 250'000;
inline constexpr size_t kMaxSeriesSamples = 250'000;

struct WrittenSample {
  int64_t time_ms = 0;
  double value = 0;  // any bits: a NaN may be the staleness marker
};

// One series of a request.
struct WrittenSeries {
  // Bytes that identify the series in this and any other request: equal bytes mean equal labels,
  // which ReadKey reads. Empty in version 2.0, which numbers its texts anew in each request.
  absl::string_view key;
  // In the order in which they were sent; set if `key` is empty.
  absl::Span<const LabelView> labels;
  absl::Span<const WrittenSample> samples;
  size_t histograms = 0;  // number of native histograms, which are not read
  size_t exemplars = 0;
  MetricType type = MetricType::kUnknown;  // of version 2.0
  absl::string_view help = "", unit = "";
  absl::Status status;  // not ok: why the series must be refused
};

// Called with each series, in their order.
using OnWrittenSeries = absl::FunctionRef<void(const WrittenSeries&)>;
// Called with each family that version 1.0 describes.
using OnFamily = absl::FunctionRef<void(const FamilyMetadata&)>;

// kInvalidArgument: the message is malformed; what came before the fault has been passed on.
absl::Status ReadWriteRequest(WriteVersion version, absl::string_view message,
                              OnWrittenSeries on_series, OnFamily on_family);

// The labels in a key of version 1.0, in the order in which they were sent.
//   kOutOfRange  there are more than kMaxSentLabels
absl::Status ReadKey(absl::string_view key, std::vector<LabelView>& labels);

// Whether the key has exactly these labels in this order, as with nearly every sender. False:
// ReadKey must be used to find out.
bool IsKeyOf(absl::string_view key, const promql::Labels& labels);

// Makes labels those of a series: sorted by name, none empty.
//   kOutOfRange       more than kMaxLabels, or one that is too long
//   kInvalidArgument  a name twice or empty, no metric name, or text that is not UTF-8
absl::Status NormalizeLabels(std::vector<LabelView>& labels);

}  // namespace flyball::formats
