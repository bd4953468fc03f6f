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

// Reads the head of bytes that are a chunk.
ChunkHead ReadChunkHead(const uint8_t* chunk);

// Appends the samples of the chunk at the beginning of `bytes`; returns its length. 0: the bytes
// are no chunk, or its times do not rise, or are not those of the head; `samples` is then
// unchanged.
size_t ReadChunk(absl::Span<const uint8_t> bytes, std::vector<Point>& samples);

class Chunk {
 public:
  // Holds 1 to kMaxChunkSamples samples. `before` becomes the state for Add.
  Chunk(absl::Span<const Point> samples, Predecessor& before);
  // Copies a chunk that ReadChunk has read.
  explicit Chunk(absl::Span<const uint8_t> bytes);

  // Adds a block of 1 to kBlockSamples samples. All earlier blocks must have kBlockSamples samples,
  // and `before` must be as the previous call left it.
  void Add(absl::Span<const Point> samples, Predecessor& before);

  // Adds samples to the last block, which has `last_bytes` bytes and fewer than kBlockSamples
  // samples. `before` is the state before that block, and becomes the one that Add leaves.
  void Fill(size_t last_bytes, absl::Span<const Point> samples, Predecessor& before);

  // The state for reading the first block.
  Predecessor BeforeFirst() const;
  ChunkHead head() const { return ReadChunkHead(bytes_.get()); }
  absl::Span<const uint8_t> bytes() const { return {bytes_.get(), head().bytes}; }
  void Read(std::vector<Point>& samples) const { ReadChunk(bytes(), samples); }

 private:
  struct FreeBytes {
    void operator()(uint8_t* bytes) const { std::free(bytes); }
  };

  void Resize(size_t size);

  std::unique_ptr<uint8_t, FreeBytes> bytes_;  // from malloc, so that realloc can extend them
};

}  // namespace flyball::live
