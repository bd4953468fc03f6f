#include "adapter/live/store/packed_numbers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "adapter/live/store/bytes.h"

namespace flyball::live {
namespace {

// The bytes of 16 numbers of 64 bits, and what a word that begins at the last one may touch.
using Window = std::array<uint8_t, kMaxPacked * 8 + 8>;

constexpr uint8_t kShifted = 0x80;

uint64_t MaskOf(int width) { return width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1; }

size_t DistanceBytes(size_t count, int width) {
  return (count * static_cast<size_t>(width) + 7) / 8;
}

}  // namespace

PackedShape ShapeOf(const uint64_t* numbers, size_t count) {
  const auto below = [](uint64_t a, uint64_t b) {
    return static_cast<int64_t>(a) < static_cast<int64_t>(b);
  };
  PackedShape shape{.least = *std::min_element(numbers, numbers + count, below)};
  uint64_t used = 0;  // the bits of all distances
  for (size_t i = 0; i < count; ++i) used |= numbers[i] - shape.least;
  if (used == 0) return shape;
  shape.shift = std::countr_zero(used);
  shape.width = static_cast<int>(std::bit_width(used >> shape.shift));
  return shape;
}

size_t PackedBytes(size_t count, const PackedShape& shape, uint64_t base) {
  return (shape.shift > 0 ? 2 : 1) + VarintBytes(ZigZag(shape.least - base)) +
         DistanceBytes(count, shape.width);
}

uint8_t* PutPacked(const uint64_t* numbers, size_t count, const PackedShape& shape, uint64_t base,
                   uint8_t* at) {
  *at++ = static_cast<uint8_t>(shape.width | (shape.shift > 0 ? kShifted : 0));
  if (shape.shift > 0) *at++ = static_cast<uint8_t>(shape.shift);
  at = PutVarint(at, ZigZag(shape.least - base));
  Window window{};
  for (size_t i = 0, bit = 0; i < count; ++i, bit += static_cast<size_t>(shape.width)) {
    const uint64_t distance = (numbers[i] - shape.least) >> shape.shift;
    uint8_t* const byte = window.data() + bit / 8;
    const int skipped = static_cast<int>(bit % 8);
    Store64(byte, Load64(byte) | distance << skipped);
    if (skipped + shape.width > 64) byte[8] |= static_cast<uint8_t>(distance >> (64 - skipped));
  }
  const size_t bytes = DistanceBytes(count, shape.width);
  std::memcpy(at, window.data(), bytes);
  return at + bytes;
}

const uint8_t* GetPacked(const uint8_t* at, const uint8_t* end, size_t count, uint64_t base,
                         uint64_t* numbers) {
  if (end - at < 2) return nullptr;
  PackedShape shape{.width = *at & ~kShifted};
  if ((*at++ & kShifted) != 0) shape.shift = *at++;
  if (shape.width > 64 || shape.shift > 63) return nullptr;
  at = GetVarint(at, end, &shape.least);
  const size_t bytes = DistanceBytes(count, shape.width);
  if (at == nullptr || static_cast<size_t>(end - at) < bytes) return nullptr;
  shape.least = base + UnZigZag(shape.least);

  Window window;
  std::memcpy(window.data(), at, bytes);
  std::memset(window.data() + bytes, 0, 8);
  const uint64_t mask = MaskOf(shape.width);
  for (size_t i = 0, bit = 0; i < count; ++i, bit += static_cast<size_t>(shape.width)) {
    const uint8_t* const byte = window.data() + bit / 8;
    const int skipped = static_cast<int>(bit % 8);
    uint64_t distance = Load64(byte) >> skipped;
    if (skipped + shape.width > 64) distance |= uint64_t{byte[8]} << (64 - skipped);
    numbers[i] = shape.least + ((distance & mask) << shape.shift);
  }
  return at + bytes;
}

}  // namespace flyball::live
