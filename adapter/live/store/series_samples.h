// The samples of one series: older ones encoded in chunks, and the newest few not encoded.
//
// Not thread-safe: its owner has a lock. Times are int64 milliseconds since the epoch. The newest
// samples (1 to kNewestSamples of them, once there is any) become half a block of the last chunk
// when another one comes and there is no room; with the next half the block is rewritten as a
// whole. So only half a block of samples is kept without encoding, at the price of encoding each
// block one and a half times. A chunk is full at kChunkSamples. It is dropped when its newest
// sample is older than the retention, so that the oldest samples may exceed the retention by a
// chunk and a block.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "adapter/live/store/chunk.h"

namespace flyball::live {

inline constexpr size_t kChunkSamples = 8 * kBlockSamples;
inline constexpr size_t kNewestSamples = kBlockSamples / 2;

class SeriesSamples {
 public:
  enum class Outcome {
    kAdded,
    kThere,      // the same time with the same bits: nothing changes
    kDuplicate,  // the same time with another value
    kTooOld,     // older than the newest one by more than the window
  };

  // Inserts a sample at its place, even if it is older than the newest one by up to `window_ms`.
  // Samples more than `retention_ms` older than the newest one may be forgotten.
  Outcome Add(Point sample, int64_t window_ms, int64_t retention_ms);

  // Appends the samples with from_ms <= time <= to_ms, in rising time.
  void Read(int64_t from_ms, int64_t to_ms, std::vector<Point>& points) const;

  // The last sample that Read would append.
  std::optional<Point> Newest(int64_t from_ms, int64_t to_ms) const;

  bool empty() const { return newest_count_ == 0; }
  int64_t last_ms() const { return newest_[newest_count_ - 1u].time_ms; }  // unless empty
  // Approximate memory of its chunks.
  size_t heap_bytes() const { return chunk_bytes_ + chunks_.capacity() * sizeof(Chunk); }

  struct Forgotten {
    size_t chunks = 0;
    int64_t last_ms = std::numeric_limits<int64_t>::min();  // of their samples
  };
  // Forgets the oldest samples, by chunks, until the rest takes at most that many bytes; the newest
  // few stay.
  Forgotten ForgetBeyond(size_t max_heap_bytes);

  // Appends all samples as chunks to `bytes`.
  void AppendChunksTo(std::vector<uint8_t>& bytes) const;
  // Takes chunks as AppendChunksTo writes them; only while empty. False: the bytes are no chunks,
  // or times do not rise from chunk to chunk; nothing has changed.
  bool AdoptChunks(absl::Span<const uint8_t> bytes);

 private:
  absl::Span<const Point> newest() const { return {newest_.data(), newest_count_}; }
  void PushNewest(Point sample, int64_t retention_ms);
  void MoveNewestToChunks();
  Outcome Insert(Point sample);
  Outcome InsertIntoChunks(Point sample);
  void Append(Chunk chunk);
  void ForgetBefore(int64_t time_ms);

  std::vector<Chunk> chunks_;
  // State before the next block of the last chunk, if that is open, or before its last, half block.
  Predecessor before_;
  bool open_ = false;  // the last chunk can take another block
  uint8_t newest_count_ = 0;
  uint16_t half_bytes_ = 0;  // of the last block of the last chunk if it is half full; else 0
  uint32_t chunk_bytes_ = 0;
  std::array<Point, kNewestSamples> newest_;
};

}  // namespace flyball::live
