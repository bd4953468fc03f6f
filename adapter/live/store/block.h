// Encodes up to 16 samples of one series.
//
// Pure; safe on any thread. Values are restored bit by bit. To read a block, the sample before it
// is needed:
//
//   times    0x7f            each step is the one before the block
//            packed_numbers  else: the steps, from the one before the block
//   values   0x40            each is the value before the block
//            form, packed_numbers
//
//   form     bit 0           the numbers are the values (0), from the value before the block, or
//                            their differences (1), from 0: whichever is shorter
//            bits 1 to 4     decimals of the values (decimal.h); 15: they are the doubles' bits
//
// A constant series takes 2 bytes for 16 samples, a counter that rises by 0 to 100 takes 18.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "adapter/live/store/packed_numbers.h"
#include "promql/engine/series.h"

namespace flyball::live {

using promql::Point;

inline constexpr size_t kBlockSamples = kMaxPacked;
inline constexpr size_t kMaxBlockBytes = 1 + 2 * kMaxPackedBytes;

// The state after the samples before a block.
struct Predecessor {
  int64_t time_ms = 0;
  uint64_t step_ms = 0;  // from the sample before to this one; wraps
  double value = 0;
};

// Writes 1 to kBlockSamples samples, at most kMaxBlockBytes; returns the end of the bytes. `before`
// becomes the state for the next block.
uint8_t* EncodeBlock(absl::Span<const Point> samples, Predecessor& before, uint8_t* at);

// Reads `count` samples (1 to kBlockSamples). nullptr: the bytes are no block. It does not check
// that times rise.
const uint8_t* DecodeBlock(const uint8_t* at, const uint8_t* end, size_t count, Predecessor& before,
                           Point* samples);

}  // namespace flyball::live
