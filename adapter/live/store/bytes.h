// Numbers as bytes: varints of 7 bits a byte (the lowest first), and 64 bits at any address.
//
// Pure. The caller of a writer provides the room; readers are given the end of the bytes and return
// nullptr if they end too soon. Little-endian, like all machines that this is built for.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace flyball::live {

static_assert(std::endian::native == std::endian::little);

inline constexpr size_t kMaxVarintBytes = 10;

// Small numbers of either sign become small numbers: 0, -1, 1, -2 are 0, 1, 2, 3.
inline uint64_t ZigZag(uint64_t number) { return (number << 1) ^ (0 - (number >> 63)); }
inline uint64_t UnZigZag(uint64_t number) { return (number >> 1) ^ (0 - (number & 1)); }

inline size_t VarintBytes(uint64_t number) {
  return (static_cast<size_t>(std::bit_width(number | 1)) + 6) / 7;
}

inline uint8_t* PutVarint(uint8_t* at, uint64_t number) {
  while (number >= 0x80) {
    *at++ = static_cast<uint8_t>(number | 0x80);
    number >>= 7;
  }
  *at++ = static_cast<uint8_t>(number);
  return at;
}

// nullptr: no number ends before `end`, or it has more than 64 bits.
inline const uint8_t* GetVarint(const uint8_t* at, const uint8_t* end, uint64_t* number) {
  uint64_t read = 0;
  for (int shift = 0; shift < 64 && at != end; shift += 7) {
    const uint64_t bits = *at & 0x7f;
    if (shift == 63 && bits > 1) return nullptr;
    read |= bits << shift;
    if (*at++ < 0x80) {
      *number = read;
      return at;
    }
  }
  return nullptr;
}

inline uint64_t Load64(const uint8_t* at) {
  uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

inline void Store64(uint8_t* at, uint64_t word) { std::memcpy(at, &word, sizeof word); }

}  // namespace flyball::live
