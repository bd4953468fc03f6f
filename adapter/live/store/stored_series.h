// One series of the store: its labels, its samples, and the watches on it.
//
// Thread-safe: one lock for each series, held for as long as it takes to add a sample or to decode
// those that are read. A series that the store has dropped has no samples and accepts none.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "adapter/live/store/series_samples.h"
#include "adapter/live/store/store_options.h"
#include "adapter/live/store/watch.h"
#include "promql/engine/series.h"

namespace flyball::live {

class StoredSeries final : public promql::Series {
 public:
  StoredSeries(promql::Labels labels, int64_t retention_ms, Watches watches);

  const promql::Labels& labels() const override { return labels_; }
  // Leaves out samples that are older than the newest one by more than the retention.
  void Read(int64_t from_ms, int64_t to_ms, std::vector<Point>& points) const override;

  std::optional<Point> Newest(int64_t from_ms, int64_t to_ms) const override;

  struct Added {
    std::optional<SeriesSamples::Outcome> outcome;  // nullopt: the store has dropped the series
    size_t grown_by = 0;                            // bytes; wraps if it shrank
    Sender sender = Sender::kUnclaimed;             // the sender that these bytes count for
    SeriesSamples::Forgotten forgotten;             // to stay within the limit
  };
  // Adds a sample. `to_tell` gets the watches that this call has marked and that were not marked
  // before. The oldest samples are forgotten if all take more than `max_bytes`.
  Added Add(Point sample, int64_t window_ms, size_t max_bytes, Watches& to_tell);

  // Puts samples, in rising time, before the existing ones; ignores any others. Otherwise like Add.
  Added AddPast(absl::Span<const Point> past, Watches& to_tell);

  // Whether the store has dropped it.
  bool dropped() const {
    absl::ReaderMutexLock lock(&mutex_);
    return dropped_;
  }

  // Takes these samples and returns their bytes; nullopt: it already has samples, or was dropped.
  std::optional<size_t> Adopt(SeriesSamples samples);
  void AppendChunksTo(std::vector<uint8_t>& bytes) const;

  // The time of the newest sample that it forgot for lack of room; the least number: none.
  int64_t forgotten_until_ms() const {
    absl::ReaderMutexLock lock(&mutex_);
    return forgotten_until_ms_;
  }

  // Whether it has no sample at or after `time_ms`.
  bool IsOlderThan(int64_t time_ms) const;
  // Drops it and returns the bytes of its samples; nullopt: it was already dropped.
  std::optional<size_t> Drop();
  // Does the same if IsOlderThan(time_ms); else nullopt.
  std::optional<size_t> DropIfOlderThan(int64_t time_ms);
  // Does the same if it has a sample later than `time_ms`; else nullopt.
  std::optional<size_t> DropIfLaterThan(int64_t time_ms);

  // Its approximate size without samples: itself, its labels, and its place in the index.
  size_t fixed_bytes() const { return sizeof(*this) + 64 + 2 * labels_.encoded().size(); }

  Sender sender() const { return sender_.load(std::memory_order_relaxed); }
  // To be called with the lock of the store's index. Returns the present bytes of its samples;
  // Added reports all later changes.
  size_t SetSender(Sender sender);

  // Each watch is added once, however often this is called.
  void AddWatch(const std::shared_ptr<Watch>& watch);
  void RemoveWatch(const std::shared_ptr<Watch>& watch);

 private:
  int64_t OldestRead() const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  bool OlderThan(int64_t time_ms) const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  std::optional<size_t> DropSamples() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const promql::Labels labels_;
  const int64_t retention_ms_;
  mutable absl::Mutex mutex_;
  std::atomic<Sender> sender_ = Sender::kUnclaimed;
  bool dropped_ ABSL_GUARDED_BY(mutex_) = false;
  Watches watches_ ABSL_GUARDED_BY(mutex_);
  int64_t forgotten_until_ms_ ABSL_GUARDED_BY(mutex_) = std::numeric_limits<int64_t>::min();
  SeriesSamples samples_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace flyball::live
