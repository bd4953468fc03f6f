// The samples of one series: older ones encoded in chunks, and the newest few not encoded.
//
// Not thread-safe: its owner has a lock. Times are int64 milliseconds since the epoch. The newest
// samples (1 to kNewestSamples of them, once there is any) become half a block of the last chunk
// when the next one comes and there is no room; with the next half the block is written again, as a
// whole. So only half a block of samples is kept without encoding, for the price of writing each
// block one and a half times. A chunk is full at kChunkSamples. It is dropped when its newest
// sample is older than the retention, so that samples may be older than that by a chunk and a
// block.
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
    kThere,      // the same time with the same bits: nothing is done
    kDuplicate,  // the same time with another value
    kTooOld,     // older than the newest one by more than the window
  };

  // A sample that is older than the newest one, by at most `window_ms`, is inserted at its place.
  // Samples more than `retention_ms` older than the newest one may be forgotten.
  Outcome Add(Point sample, int64_t window_ms, int64_t retention_ms);

  // Appends the samples with from_ms <= time <= to_ms, in rising time.
  void Read(int64_t from_ms, int64_t to_ms, std::vector<Point>& points) const;

  // The last of those that Read would append.
  std::optional<Point> Newest(int64_t from_ms, int64_t to_ms) const;

  bool empty() const { return newest_count_ == 0; }
  int64_t last_ms() const { return newest_[newest_count_ - 1u].time_ms; }  // unless empty
  // What its chunks take, about.
  size_t heap_bytes() const { return chunk_bytes_ + chunks_.capacity() * sizeof(Chunk); }

  struct Forgotten {
    size_t chunks = 0;
    int64_t last_ms = std::numeric_limits<int64_t>::min();  // of their samples
  };
  // Forgets the oldest samples, in chunks, until the others take no more than that; the newest few
  // stay.
  Forgotten ForgetBeyond(size_t max_heap_bytes);

  // All samples as chunks, at the end of `bytes`.
  void AppendChunksTo(std::vector<uint8_t>& bytes) const;
  // Takes chunks as AppendChunksTo writes them; only while empty. False: they are none, or times do
  // not rise from chunk to chunk; nothing has changed.
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
  // For the next block of the last chunk, if that is open, or for its last one, if that is half.
  Predecessor before_;
  bool open_ = false;  // the last chunk takes another block
  uint8_t newest_count_ = 0;
  uint16_t half_bytes_ = 0;  // of the last block of the last chunk, if it is half; else 0
  uint32_t chunk_bytes_ = 0;
  std::array<Point, kNewestSamples> newest_;
};

}  // namespace flyball::live
