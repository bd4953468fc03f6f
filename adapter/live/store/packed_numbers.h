// A few integers in few bytes: how far each lies above the least of them, all in the same number
// of bits. Bits that are zero in all of these distances are not written.
//
// Pure; safe on any thread. Integers are int64 in two's complement; what is computed with them
// wraps, so that any bytes can be read without overflow.
#pragma once

#include <cstddef>
#include <cstdint>

namespace flyball::live {

inline constexpr size_t kMaxPacked = 16;
inline constexpr size_t kMaxPackedBytes = 2 + 10 + 8 * kMaxPacked;

// What the integers have in common.
struct PackedShape {
  uint64_t least = 0;
  int shift = 0;  // 0 to 63: low bits that are zero in each distance
  int width = 0;  // 0 to 64: bits of the largest distance, without the shift
};

// Of 1 to kMaxPacked integers.
PackedShape ShapeOf(const uint64_t* numbers, size_t count);

// How many bytes PutPacked writes.
size_t PackedBytes(size_t count, const PackedShape& shape, uint64_t base);

// Writes a byte of the width, with the highest bit set if another one of the shift follows; the
// zigzag varint of the distance from `base` to the least; the distances. Returns where they end.
// `base` is any number that the reader knows as well, the nearer the shorter.
uint8_t* PutPacked(const uint64_t* numbers, size_t count, const PackedShape& shape, uint64_t base,
                   uint8_t* at);

// nullptr: these bytes are no packed numbers.
const uint8_t* GetPacked(const uint8_t* at, const uint8_t* end, size_t count, uint64_t base,
                         uint64_t* numbers);

}  // namespace flyball::live
