// Samples of one series in rising time, as bytes that can be read by themselves: a head, then
// blocks of 16 samples, of which the last one may have fewer.
//
// Not thread-safe for writing. No bytes are allocated in reserve, since a store has many chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "adapter/live/store/block.h"

namespace flyball::live {

// The first bytes of a chunk.
struct ChunkHead {
  int64_t first_ms = 0;
  int64_t last_ms = 0;
  double first_value = 0;
  uint32_t first_step_ms = 0;  // what the times of the first block are expected to rise by
  uint16_t bytes = 0;          // of the whole chunk, the head included
  uint16_t samples = 0;
};
static_assert(sizeof(ChunkHead) == 32);

// A chunk must not hold more samples: the number of its bytes would not fit into the head.
inline constexpr size_t kMaxChunkSamples = 1024;

// Of bytes that are a chunk.
ChunkHead ReadChunkHead(const uint8_t* chunk);

// Appends the samples of the chunk with which `bytes` begins; returns the bytes that it takes.
// 0: these are no chunk, or times do not rise within it, or are not those of the head; `samples` is
// then as it was.
size_t ReadChunk(absl::Span<const uint8_t> bytes, std::vector<Point>& samples);

class Chunk {
 public:
  // 1 to kMaxChunkSamples samples. `before` becomes what Add needs.
  Chunk(absl::Span<const Point> samples, Predecessor& before);
  // A copy of what ReadChunk has read.
  explicit Chunk(absl::Span<const uint8_t> bytes);

  // Another block of 1 to kBlockSamples samples. All before it must have kBlockSamples samples, and
  // `before` be as the call before left it.
  void Add(absl::Span<const Point> samples, Predecessor& before);

  // More samples for the last block, which has `last_bytes` bytes and fewer than kBlockSamples
  // samples; `before` is as it was before that block, and becomes as Add leaves it.
  void Fill(size_t last_bytes, absl::Span<const Point> samples, Predecessor& before);

  // What the first block is read with.
  Predecessor BeforeFirst() const;
  ChunkHead head() const { return ReadChunkHead(bytes_.get()); }
  absl::Span<const uint8_t> bytes() const { return {bytes_.get(), head().bytes}; }
  void Read(std::vector<Point>& samples) const { ReadChunk(bytes(), samples); }

 private:
  struct FreeBytes {
    void operator()(uint8_t* bytes) const { std::free(bytes); }
  };

  void Resize(size_t size);

  std::unique_ptr<uint8_t, FreeBytes> bytes_;  // of malloc, so that they can grow where they are
};

}  // namespace flyball::live
