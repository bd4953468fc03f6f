// The format that writer and reader of a store file share.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "absl/strings/string_view.h"

namespace flyball::live {

inline constexpr absl::string_view kStoreFileMagic = "flyball samples 2\n";
inline constexpr absl::string_view kMagicWithoutSelectors = "flyball samples 1\n";
static_assert(kMagicWithoutSelectors.size() == kStoreFileMagic.size());

// A block is written once it has this many bytes; it may exceed them by one series.
inline constexpr size_t kFullBlockBytes = 256 << 10;
// A series that takes more than this (a million samples that can't be compressed) is left out.
inline constexpr size_t kMaxSeriesFileBytes = 8 << 20;
inline constexpr size_t kMaxBlockBytesInFile = 2 * kMaxSeriesFileBytes;

struct BlockFrame {
  uint32_t bytes = 0;  // 0: the end of the file
  uint32_t check = 0;  // crc32 of the bytes; at the end the number of series
};

inline uint32_t Crc32(const uint8_t* bytes, size_t size) {
  return static_cast<uint32_t>(crc32_z(0, bytes, size));
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace flyball::live
