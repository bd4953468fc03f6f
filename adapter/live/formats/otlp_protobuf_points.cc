#include <cstdint>
#include <vector>

#include "absl/base/casts.h"
#include "adapter/live/formats/otlp_protobuf.h"
#include "adapter/live/formats/wire_reader.h"

namespace flyball::formats {
namespace {

// Field numbers, by message.
namespace number_point {
constexpr int kStart = 2, kTime = 3, kDouble = 4, kInt = 6, kAttributes = 7, kFlags = 8;
}
namespace histogram_point {
constexpr int kStart = 2, kTime = 3, kCount = 4, kSum = 5, kCounts = 6, kBounds = 7;
constexpr int kAttributes = 9, kFlags = 10;
}  // namespace histogram_point
namespace exponential_point {
constexpr int kAttributes = 1, kStart = 2, kTime = 3, kCount = 4, kSum = 5, kScale = 6;
constexpr int kZeroCount = 7, kPositive = 8, kNegative = 9, kFlags = 10, kZeroThreshold = 14;
}  // namespace exponential_point
namespace summary_point {
constexpr int kStart = 2, kTime = 3, kCount = 4, kSum = 5, kQuantiles = 6, kAttributes = 7;
constexpr int kFlags = 8;
}  // namespace summary_point

// A number that the field's 64 bits hold as a `Wire`.
template <typename Wire, typename Number>
bool ReadFixed(WireReader& reader, Number& number) {
  uint64_t bits = 0;
  if (!reader.ReadFixed64(&bits)) return false;
  number = static_cast<Number>(static_cast<Wire>(bits));
  return true;
}

bool ReadFlags(WireReader& reader, OtlpPoint& point) {
  uint64_t flags = 0;
  if (!reader.ReadVarint(&flags)) return false;
  point.no_value = (flags & kOtlpNoRecordedValue) != 0;
  return true;
}

// Keeps one more than the limit, so that the excess is noticed.
void Keep(uint64_t number, size_t limit, std::vector<uint64_t>& numbers) {
  if (numbers.size() <= limit) numbers.push_back(number);
}

// Numbers of 64 bits, packed or one alone.
bool ReadFixed64s(WireReader& reader, size_t limit, std::vector<uint64_t>& numbers) {
  uint64_t number = 0;
  if (!reader.IsPacked()) {
    if (!reader.ReadFixed64(&number)) return false;
    Keep(number, limit, numbers);
    return true;
  }
  absl::string_view packed;
  if (!reader.ReadBytes(&packed) || packed.size() % 8 != 0) return false;
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(packed.data()),
                                                static_cast<int>(packed.size()));
  for (size_t i = 0; i < packed.size() / 8; ++i) {
    if (!stream.ReadLittleEndian64(&number)) return false;
    Keep(number, limit, numbers);
  }
  return true;
}

bool ReadSum(WireReader& reader, OtlpPoint& point) {
  return reader.ReadDouble(&point.sum.emplace());
}

bool ReadNumberPoint(absl::string_view message, OtlpPoint& point) {
  using namespace number_point;
  return ReadFields(message, [&](WireReader& reader, int field) {
    return field == kStart        ? ReadFixed<int64_t>(reader, point.start_ns)
           : field == kTime       ? ReadFixed<int64_t>(reader, point.time_ns)
           : field == kDouble     ? reader.ReadDouble(&point.value)
           : field == kInt        ? ReadFixed<int64_t>(reader, point.value)
           : field == kAttributes ? ReadAttribute(reader, point.attributes)
           : field == kFlags      ? ReadFlags(reader, point)
                                  : reader.Skip();
  });
}

bool ReadHistogramPoint(absl::string_view message, OtlpPoint& point) {
  using namespace histogram_point;
  std::vector<uint64_t> counts, bounds;
  const bool good = ReadFields(message, [&](WireReader& reader, int field) {
    return field == kStart        ? ReadFixed<int64_t>(reader, point.start_ns)
           : field == kTime       ? ReadFixed<int64_t>(reader, point.time_ns)
           : field == kCount      ? ReadFixed<uint64_t>(reader, point.count)
           : field == kSum        ? ReadSum(reader, point)
           : field == kCounts     ? ReadFixed64s(reader, kMaxBuckets, counts)
           : field == kBounds     ? ReadFixed64s(reader, kMaxBuckets, bounds)
           : field == kAttributes ? ReadAttribute(reader, point.attributes)
           : field == kFlags      ? ReadFlags(reader, point)
                                  : reader.Skip();
  });
  if (!good) return false;
  std::vector<double> uppers;
  uppers.reserve(bounds.size());
  for (const uint64_t bits : bounds) uppers.push_back(absl::bit_cast<double>(bits));
  SetBuckets(uppers, counts, point);
  return true;
}

bool ReadExponents(WireReader& outer, OtlpExponents& exponents) {
  return ReadMessage(outer, [&](WireReader& reader, int field) {
    const auto keep = [&](uint64_t count) { Keep(count, kMaxExponents, exponents.counts); };
    if (field == 2) return ReadVarints(reader, keep);
    if (field != 1) return reader.Skip();
    int32_t offset = 0;
    if (!reader.ReadSigned(&offset)) return false;
    exponents.offset = offset;
    return true;
  });
}

bool ReadExponentialPoint(absl::string_view message, OtlpPoint& point) {
  using namespace exponential_point;
  return ReadFields(message, [&](WireReader& reader, int field) {
    return field == kAttributes      ? ReadAttribute(reader, point.attributes)
           : field == kStart         ? ReadFixed<int64_t>(reader, point.start_ns)
           : field == kTime          ? ReadFixed<int64_t>(reader, point.time_ns)
           : field == kCount         ? ReadFixed<uint64_t>(reader, point.count)
           : field == kSum           ? ReadSum(reader, point)
           : field == kScale         ? reader.ReadSigned(&point.scale)
           : field == kZeroCount     ? ReadFixed<uint64_t>(reader, point.zero_count)
           : field == kPositive      ? ReadExponents(reader, point.positive)
           : field == kNegative      ? ReadExponents(reader, point.negative)
           : field == kFlags         ? ReadFlags(reader, point)
           : field == kZeroThreshold ? reader.ReadDouble(&point.zero_threshold)
                                     : reader.Skip();
  });
}

bool ReadQuantile(WireReader& outer, OtlpPoint& point) {
  if (point.quantiles.size() == kMaxBuckets) {
    point.status = TooMany("quantiles", kMaxBuckets);
    return outer.Skip();
  }
  OtlpQuantile& quantile = point.quantiles.emplace_back();
  return ReadMessage(outer, [&](WireReader& reader, int field) {
    return field == 1   ? reader.ReadDouble(&quantile.quantile)
           : field == 2 ? reader.ReadDouble(&quantile.value)
                        : reader.Skip();
  });
}

bool ReadSummaryPoint(absl::string_view message, OtlpPoint& point) {
  using namespace summary_point;
  point.sum = 0;  // a summary always has a sum
  return ReadFields(message, [&](WireReader& reader, int field) {
    return field == kStart        ? ReadFixed<int64_t>(reader, point.start_ns)
           : field == kTime       ? ReadFixed<int64_t>(reader, point.time_ns)
           : field == kCount      ? ReadFixed<uint64_t>(reader, point.count)
           : field == kSum        ? ReadSum(reader, point)
           : field == kQuantiles  ? ReadQuantile(reader, point)
           : field == kAttributes ? ReadAttribute(reader, point.attributes)
           : field == kFlags      ? ReadFlags(reader, point)
                                  : reader.Skip();
  });
}

}  // namespace

bool ReadOtlpPoint(OtlpKind kind, absl::string_view message, OtlpPoint& point) {
  if (kind == OtlpKind::kHistogram) return ReadHistogramPoint(message, point);
  if (kind == OtlpKind::kExponentialHistogram) return ReadExponentialPoint(message, point);
  if (kind == OtlpKind::kSummary) return ReadSummaryPoint(message, point);
  return ReadNumberPoint(message, point);
}

}  // namespace flyball::formats
