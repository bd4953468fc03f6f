#include "adapter/live/formats/otlp.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "adapter/live/formats/otlp_readers.h"
#include "adapter/live/formats/samples.h"
#include "base/one_line.h"
#include "promql/text.h"

namespace flyball::formats {
namespace {

constexpr int kMinScale = -4;
constexpr int kFinestScale = 3;

absl::Status TooManyBuckets() { return TooMany("buckets", kMaxBuckets); }

// Appends a bucket, or adds to the one of this bound.
void AddBucket(double upper, double count, std::vector<OtlpBucket>& buckets) {
  if (!buckets.empty() && buckets.back().upper >= upper) {
    buckets.back().count += count;
  } else if (!std::isinf(upper) || upper < 0) {
    buckets.push_back({upper, count});
  }
}

// Counts of one side by the indexes of the coarser scale, from the first that is not 0 to the last.
struct CoarseCounts {
  int64_t first = 0;
  std::vector<double> counts;
};

absl::StatusOr<CoarseCounts> Coarsen(const OtlpExponents& exponents, int shift) {
  CoarseCounts coarse;
  for (size_t i = 0; i < exponents.counts.size(); ++i) {
    if (exponents.counts[i] == 0) continue;
    const int64_t index = (exponents.offset + static_cast<int64_t>(i)) >> shift;
    if (coarse.counts.empty()) coarse.first = index;
    const auto at = static_cast<size_t>(index - coarse.first);
    if (at >= kMaxBuckets) return TooManyBuckets();
    if (at >= coarse.counts.size()) coarse.counts.resize(at + 1);
    coarse.counts[at] += static_cast<double>(exponents.counts[i]);
  }
  return coarse;
}

// base^index, where base is 2^(2^-scale).
double PowerOf(int64_t index, int scale) {
  return std::exp2(std::ldexp(static_cast<double>(index), -scale));
}

}  // namespace

absl::StatusOr<OtlpEncoding> OtlpEncodingOf(absl::string_view content_type) {
  const absl::string_view type =
      absl::StripAsciiWhitespace(content_type.substr(0, content_type.find(';')));
  if (absl::EqualsIgnoreCase(type, "application/x-protobuf")) return OtlpEncoding::kProtobuf;
  if (absl::EqualsIgnoreCase(type, "application/json")) return OtlpEncoding::kJson;
  return absl::UnimplementedError(
      absl::StrCat("content type ", promql::Quote(Abridged(content_type)),
                   ", expected application/x-protobuf or application/json"));
}

absl::Status ReadOtlp(OtlpEncoding encoding, absl::string_view message, OtlpSink& sink) {
  const bool good = encoding == OtlpEncoding::kJson ? ReadOtlpJson(message, sink)
                                                    : ReadOtlpProtobuf(message, sink);
  if (good) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the body is no export request of OTLP metrics in ",
                   encoding == OtlpEncoding::kJson ? "JSON" : "protobuf"));
}

absl::Status TooMany(absl::string_view what, size_t limit) {
  return absl::InvalidArgumentError(absl::StrCat("a point has more than ", limit, " ", what));
}

void SetAttribute(absl::string_view key, const OtlpValue& value, const ValueSize& size,
                  OtlpAttribute& attribute) {
  // Each character, of up to four bytes, becomes one byte of a label's name.
  const bool long_key = key.size() > 4 * kMaxLabelNameBytes;
  attribute.key = std::string(long_key ? key.substr(0, kMaxLabelNameBytes) : key);
  attribute.too_long = long_key || size.TooLong();
  if (attribute.too_long) return;
  attribute.value = OtlpValueText(value);
  attribute.too_long = attribute.value.size() > kMaxLabelValueBytes;
  if (attribute.too_long) attribute.value = std::string();
}

void SetBuckets(absl::Span<const double> bounds, absl::Span<const uint64_t> counts,
                OtlpPoint& point) {
  const size_t size = std::min(bounds.size(), counts.size());
  if (size > kMaxBuckets) {
    point.status = TooManyBuckets();
    return;
  }
  for (size_t i = 0; i < size; ++i) {
    if (std::isnan(bounds[i]) || (i > 0 && bounds[i] <= bounds[i - 1])) {
      point.status = absl::InvalidArgumentError("the bounds of a histogram do not rise");
      return;
    }
    AddBucket(bounds[i], static_cast<double>(counts[i]), point.buckets);
  }
}

absl::Status ExpandExponents(OtlpPoint& point) {
  if (std::max(point.positive.counts.size(), point.negative.counts.size()) > kMaxExponents) {
    return TooMany("counts on one side", kMaxExponents);
  }
  if (point.scale < kMinScale) {
    return absl::InvalidArgumentError(
        absl::StrCat("scale ", point.scale, " of an exponential histogram is below ", kMinScale));
  }
  const int scale = std::min(point.scale, kFinestScale);
  // An index has 32 bits, and a shift by all of them leaves its sign.
  const int shift = std::min(point.scale - scale, 40);
  const auto negative = Coarsen(point.negative, shift);
  const auto positive = Coarsen(point.positive, shift);
  if (!negative.ok()) return negative.status();
  if (!positive.ok()) return positive.status();
  // Each side begins with the bound below its first bucket, so that nothing is spread from 0 on.
  std::vector<OtlpBucket>& buckets = point.buckets;
  buckets.clear();
  const std::vector<double>& below = negative->counts;
  if (!below.empty()) {
    AddBucket(-PowerOf(negative->first + static_cast<int64_t>(below.size()), scale), 0, buckets);
  }
  for (size_t i = below.size(); i-- > 0;) {
    AddBucket(-PowerOf(negative->first + static_cast<int64_t>(i), scale), below[i], buckets);
  }
  if (point.zero_count > 0) AddBucket(std::fabs(point.zero_threshold), point.zero_count, buckets);
  if (!positive->counts.empty()) AddBucket(PowerOf(positive->first, scale), 0, buckets);
  for (size_t i = 0; i < positive->counts.size(); ++i) {
    AddBucket(PowerOf(positive->first + static_cast<int64_t>(i) + 1, scale), positive->counts[i],
              buckets);
  }
  return absl::OkStatus();
}

}  // namespace flyball::formats
