// A few integers in few bytes: the distance of each from the least of them, all in the same number
// of bits. Low bits that are zero in all of these distances are not written.
//
// Pure; safe on any thread. Integers are int64 in two's complement; computations wrap, so that any
// bytes can be read without overflow.
#pragma once

#include <cstddef>
#include <cstdint>

namespace flyball::live {

inline constexpr size_t kMaxPacked = 16;
inline constexpr size_t kMaxPackedBytes = 2 + 10 + 8 * kMaxPacked;

// The common properties of the integers.
struct PackedShape {
  uint64_t least = 0;
  int shift = 0;  // 0 to 63: low bits that are zero in each distance
  int width = 0;  // 0 to 64: bits of the largest distance, without the shift
};

// The shape of 1 to kMaxPacked integers.
PackedShape ShapeOf(const uint64_t* numbers, size_t count);

// How many bytes PutPacked writes.
size_t PackedBytes(size_t count, const PackedShape& shape, uint64_t base);

// Writes a byte with the width, whose highest bit is set if another byte with the shift follows;
// the zigzag varint of the distance from `base` to the least; the distances. Returns the end of the
// bytes. `base` is any number that the reader also knows; the nearer it is, the fewer bytes.
uint8_t* PutPacked(const uint64_t* numbers, size_t count, const PackedShape& shape, uint64_t base,
                   uint8_t* at);

// nullptr: the bytes are no packed numbers.
const uint8_t* GetPacked(const uint8_t* at, const uint8_t* end, size_t count, uint64_t base,
                         uint64_t* numbers);

}  // namespace flyball::live
