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
bool ReadTime(WireReader& reader, int64_t& time_ns) {
  uint64_t bits = 0;
  if (!reader.ReadFixed64(&bits)) return false;
  time_ns = static_cast<int64_t>(bits);
  return true;
}

bool ReadCount(WireReader& reader, double& count) {
  uint64_t bits = 0;
  if (!reader.ReadFixed64(&bits)) return false;
  count = static_cast<double>(bits);
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

bool ReadVarints(WireReader& reader, size_t limit, std::vector<uint64_t>& numbers) {
  uint64_t number = 0;
  if (!reader.IsPacked()) {
    if (!reader.ReadVarint(&number)) return false;
    Keep(number, limit, numbers);
    return true;
  }
  absl::string_view packed;
  if (!reader.ReadBytes(&packed)) return false;
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(packed.data()),
                                                static_cast<int>(packed.size()));
  while (stream.CurrentPosition() < static_cast<int>(packed.size())) {
    if (!stream.ReadVarint64(&number)) return false;
    Keep(number, limit, numbers);
  }
  return true;
}

bool ReadInt(WireReader& reader, double& value) {
  uint64_t bits = 0;
  if (!reader.ReadFixed64(&bits)) return false;
  value = static_cast<double>(static_cast<int64_t>(bits));
  return true;
}

bool ReadSum(WireReader& reader, OtlpPoint& point) {
  return reader.ReadDouble(&point.sum.emplace());
}

bool ReadNumberPoint(absl::string_view message, OtlpPoint& point) {
  using namespace number_point;
  WireReader reader(message);
  while (const int field = reader.Next()) {
    const bool good = field == kStart        ? ReadTime(reader, point.start_ns)
                      : field == kTime       ? ReadTime(reader, point.time_ns)
                      : field == kDouble     ? reader.ReadDouble(&point.value)
                      : field == kInt        ? ReadInt(reader, point.value)
                      : field == kAttributes ? ReadAttribute(reader, point.attributes)
                      : field == kFlags      ? ReadFlags(reader, point)
                                             : reader.Skip();
    if (!good) return false;
  }
  return reader.AtEnd();
}

bool ReadHistogramPoint(absl::string_view message, OtlpPoint& point) {
  using namespace histogram_point;
  std::vector<uint64_t> counts, bounds;
  WireReader reader(message);
  while (const int field = reader.Next()) {
    const bool good = field == kStart        ? ReadTime(reader, point.start_ns)
                      : field == kTime       ? ReadTime(reader, point.time_ns)
                      : field == kCount      ? ReadCount(reader, point.count)
                      : field == kSum        ? ReadSum(reader, point)
                      : field == kCounts     ? ReadFixed64s(reader, kMaxBuckets, counts)
                      : field == kBounds     ? ReadFixed64s(reader, kMaxBuckets, bounds)
                      : field == kAttributes ? ReadAttribute(reader, point.attributes)
                      : field == kFlags      ? ReadFlags(reader, point)
                                             : reader.Skip();
    if (!good) return false;
  }
  std::vector<double> uppers;
  uppers.reserve(bounds.size());
  for (const uint64_t bits : bounds) uppers.push_back(absl::bit_cast<double>(bits));
  SetBuckets(uppers, counts, point);
  return reader.AtEnd();
}

bool ReadExponents(WireReader& reader, OtlpExponents& exponents) {
  absl::string_view part;
  if (!reader.ReadBytes(&part)) return false;
  WireReader inner(part);
  while (const int field = inner.Next()) {
    int32_t offset = 0;
    if (field == 1) {
      if (!inner.ReadSigned(&offset)) return false;
      exponents.offset = offset;
    } else if (field == 2) {
      if (!ReadVarints(inner, kMaxExponents, exponents.counts)) return false;
    } else if (!inner.Skip()) {
      return false;
    }
  }
  return inner.AtEnd();
}

bool ReadExponentialPoint(absl::string_view message, OtlpPoint& point) {
  using namespace exponential_point;
  WireReader reader(message);
  while (const int field = reader.Next()) {
    const bool good = field == kAttributes      ? ReadAttribute(reader, point.attributes)
                      : field == kStart         ? ReadTime(reader, point.start_ns)
                      : field == kTime          ? ReadTime(reader, point.time_ns)
                      : field == kCount         ? ReadCount(reader, point.count)
                      : field == kSum           ? ReadSum(reader, point)
                      : field == kScale         ? reader.ReadSigned(&point.scale)
                      : field == kZeroCount     ? ReadCount(reader, point.zero_count)
                      : field == kPositive      ? ReadExponents(reader, point.positive)
                      : field == kNegative      ? ReadExponents(reader, point.negative)
                      : field == kFlags         ? ReadFlags(reader, point)
                      : field == kZeroThreshold ? reader.ReadDouble(&point.zero_threshold)
                                                : reader.Skip();
    if (!good) return false;
  }
  return reader.AtEnd();
}

bool ReadQuantile(WireReader& reader, OtlpPoint& point) {
  if (point.quantiles.size() == kMaxBuckets) {
    point.status = TooMany("quantiles", kMaxBuckets);
    return reader.Skip();
  }
  absl::string_view part;
  if (!reader.ReadBytes(&part)) return false;
  OtlpQuantile& quantile = point.quantiles.emplace_back();
  WireReader inner(part);
  while (const int field = inner.Next()) {
    if (field != 1 && field != 2) {
      if (!inner.Skip()) return false;
    } else if (!inner.ReadDouble(field == 1 ? &quantile.quantile : &quantile.value)) {
      return false;
    }
  }
  return inner.AtEnd();
}

bool ReadSummaryPoint(absl::string_view message, OtlpPoint& point) {
  using namespace summary_point;
  point.sum = 0;  // a summary always has a sum
  WireReader reader(message);
  while (const int field = reader.Next()) {
    const bool good = field == kStart        ? ReadTime(reader, point.start_ns)
                      : field == kTime       ? ReadTime(reader, point.time_ns)
                      : field == kCount      ? ReadCount(reader, point.count)
                      : field == kSum        ? ReadSum(reader, point)
                      : field == kQuantiles  ? ReadQuantile(reader, point)
                      : field == kAttributes ? ReadAttribute(reader, point.attributes)
                      : field == kFlags      ? ReadFlags(reader, point)
                                             : reader.Skip();
    if (!good) return false;
  }
  return reader.AtEnd();
}

}  // namespace

bool ReadOtlpPoint(OtlpKind kind, absl::string_view message, OtlpPoint& point) {
  if (kind == OtlpKind::kHistogram) return ReadHistogramPoint(message, point);
  if (kind == OtlpKind::kExponentialHistogram) return ReadExponentialPoint(message, point);
  if (kind == OtlpKind::kSummary) return ReadSummaryPoint(message, point);
  return ReadNumberPoint(message, point);
}

}  // namespace flyball::formats
