#include "adapter/live/store/block.h"

#include <algorithm>
#include <array>

#include "absl/base/casts.h"
#include "adapter/live/store/bytes.h"
#include "adapter/live/store/decimal.h"

namespace flyball::live {
namespace {

constexpr uint8_t kRegular = 0x7f;   // of times
constexpr uint8_t kRepeated = 0x40;  // of values
constexpr uint8_t kDifferences = 0x01;
constexpr int kAsBits = 15;  // in the place of the decimals

using Numbers = std::array<uint64_t, kBlockSamples>;

uint64_t Bits(double value) { return absl::bit_cast<uint64_t>(value); }

// The least number of decimals that all values can be written with; kAsBits if there is none.
int ToNumbers(absl::Span<const Point> samples, Numbers& numbers) {
  int decimals = 0;
  for (size_t i = 0; i < samples.size();) {
    int64_t digits = 0;
    if (ToDecimal(samples[i].value, decimals, &digits)) {
      numbers[i++] = static_cast<uint64_t>(digits);
    } else if (++decimals <= kMaxDecimals) {
      i = 0;
    } else {
      break;
    }
  }
  if (decimals <= kMaxDecimals) return decimals;
  for (size_t i = 0; i < samples.size(); ++i) numbers[i] = Bits(samples[i].value);
  return kAsBits;
}

// The value before the block as a number like those in it; 0 where it can't be written so.
uint64_t NumberBefore(double value, int decimals) {
  if (decimals == kAsBits) return Bits(value);
  int64_t digits = 0;
  return ToDecimal(value, decimals, &digits) ? static_cast<uint64_t>(digits) : 0;
}

double ToValue(uint64_t number, int decimals) {
  if (decimals == kAsBits) return absl::bit_cast<double>(number);
  return FromDecimal(static_cast<int64_t>(number), decimals);
}

uint8_t* EncodeTimes(absl::Span<const Point> samples, Predecessor& before, uint8_t* at) {
  Numbers steps;
  uint64_t time_ms = static_cast<uint64_t>(before.time_ms);
  bool regular = true;
  for (size_t i = 0; i < samples.size(); ++i) {
    steps[i] = static_cast<uint64_t>(samples[i].time_ms) - time_ms;
    time_ms += steps[i];
    regular = regular && steps[i] == before.step_ms;
  }
  if (regular) {
    *at++ = kRegular;
  } else {
    const PackedShape shape = ShapeOf(steps.data(), samples.size());
    at = PutPacked(steps.data(), samples.size(), shape, before.step_ms, at);
  }
  before.time_ms = samples.back().time_ms;
  before.step_ms = steps[samples.size() - 1];
  return at;
}

uint8_t* EncodeValues(absl::Span<const Point> samples, double before, uint8_t* at) {
  if (std::all_of(samples.begin(), samples.end(),
                  [&](const Point& sample) { return Bits(sample.value) == Bits(before); })) {
    *at++ = kRepeated;
    return at;
  }
  const size_t count = samples.size();
  Numbers numbers;
  const int decimals = ToNumbers(samples, numbers);
  const uint64_t base = NumberBefore(before, decimals);
  Numbers differences;
  for (size_t i = 0; i < count; ++i) differences[i] = numbers[i] - (i > 0 ? numbers[i - 1] : base);

  const PackedShape shape = ShapeOf(numbers.data(), count);
  const PackedShape of_differences = ShapeOf(differences.data(), count);
  const auto form = static_cast<uint8_t>(decimals << 1);
  if (PackedBytes(count, of_differences, 0) < PackedBytes(count, shape, base)) {
    *at++ = form | kDifferences;
    return PutPacked(differences.data(), count, of_differences, 0, at);
  }
  *at++ = form;
  return PutPacked(numbers.data(), count, shape, base, at);
}

const uint8_t* DecodeTimes(const uint8_t* at, const uint8_t* end, size_t count, Predecessor& before,
                           Point* samples) {
  if (at == end) return nullptr;
  Numbers steps;
  if (*at == kRegular) {
    ++at;
    steps.fill(before.step_ms);
  } else {
    at = GetPacked(at, end, count, before.step_ms, steps.data());
    if (at == nullptr) return nullptr;
  }
  uint64_t time_ms = static_cast<uint64_t>(before.time_ms);
  for (size_t i = 0; i < count; ++i) {
    time_ms += steps[i];
    samples[i].time_ms = static_cast<int64_t>(time_ms);
  }
  before.time_ms = static_cast<int64_t>(time_ms);
  before.step_ms = steps[count - 1];
  return at;
}

const uint8_t* DecodeValues(const uint8_t* at, const uint8_t* end, size_t count, double before,
                            Point* samples) {
  if (at == end) return nullptr;
  const uint8_t form = *at++;
  if (form == kRepeated) {
    for (size_t i = 0; i < count; ++i) samples[i].value = before;
    return at;
  }
  if (form >= kAsBits * 2 + 2) return nullptr;
  const int decimals = form >> 1;
  const bool differences = (form & kDifferences) != 0;
  uint64_t number = NumberBefore(before, decimals);
  Numbers numbers;
  at = GetPacked(at, end, count, differences ? 0 : number, numbers.data());
  if (at == nullptr) return nullptr;
  for (size_t i = 0; i < count; ++i) {
    number = differences ? number + numbers[i] : numbers[i];
    samples[i].value = ToValue(number, decimals);
  }
  return at;
}

}  // namespace

uint8_t* EncodeBlock(absl::Span<const Point> samples, Predecessor& before, uint8_t* at) {
  at = EncodeTimes(samples, before, at);
  at = EncodeValues(samples, before.value, at);
  before.value = samples.back().value;
  return at;
}

const uint8_t* DecodeBlock(const uint8_t* at, const uint8_t* end, size_t count, Predecessor& before,
                           Point* samples) {
  at = DecodeTimes(at, end, count, before, samples);
  if (at != nullptr) at = DecodeValues(at, end, count, before.value, samples);
  if (at != nullptr) before.value = samples[count - 1].value;
  return at;
}

}  // namespace flyball::live
