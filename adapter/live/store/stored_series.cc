#include "adapter/live/store/stored_series.h"

#include <algorithm>
#include <utility>

#include "adapter/live/store/times.h"

namespace flyball::live {

StoredSeries::StoredSeries(promql::Labels labels, int64_t retention_ms, Watches watches)
    : labels_(std::move(labels)), retention_ms_(retention_ms), watches_(std::move(watches)) {}

void StoredSeries::Read(int64_t from_ms, int64_t to_ms, std::vector<Point>& points) const {
  absl::ReaderMutexLock lock(&mutex_);
  if (!samples_.empty()) samples_.Read(std::max(from_ms, OldestRead()), to_ms, points);
}

std::optional<Point> StoredSeries::Newest(int64_t from_ms, int64_t to_ms) const {
  absl::ReaderMutexLock lock(&mutex_);
  if (samples_.empty()) return std::nullopt;
  return samples_.Newest(std::max(from_ms, OldestRead()), to_ms);
}

int64_t StoredSeries::OldestRead() const { return Earlier(samples_.last_ms(), retention_ms_); }

// The lock costs little if Abseil does not detect deadlocks. Debian's does unless main switches
// that off; otherwise each lock would cost a microsecond and each series half a kilobyte.
StoredSeries::Added StoredSeries::Add(Point sample, int64_t window_ms, size_t max_bytes,
                                      Watches& to_tell) {
  absl::MutexLock lock(&mutex_);
  if (dropped_) return {};
  const size_t bytes_before = samples_.heap_bytes();
  const SeriesSamples::Outcome outcome = samples_.Add(sample, window_ms, retention_ms_);
  if (outcome == SeriesSamples::Outcome::kAdded) {
    for (const std::shared_ptr<Watch>& watch : watches_) {
      if (watch->Mark()) to_tell.push_back(watch);
    }
  }
  SeriesSamples::Forgotten forgotten;
  if (samples_.heap_bytes() > max_bytes) {
    forgotten = samples_.ForgetBeyond(max_bytes);
    forgotten_until_ms_ = std::max(forgotten_until_ms_, forgotten.last_ms);
  }
  return {.outcome = outcome,
          .grown_by = samples_.heap_bytes() - bytes_before,
          .sender = sender(),
          .forgotten = forgotten};
}

StoredSeries::Added StoredSeries::AddPast(absl::Span<const Point> past, Watches& to_tell) {
  absl::MutexLock lock(&mutex_);
  if (dropped_) return {};
  std::vector<Point> present;
  samples_.Read(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(), present);
  SeriesSamples both;
  for (const Point& point : past) {
    if (!present.empty() && point.time_ms >= present.front().time_ms) break;
    both.Add(point, 0, retention_ms_);
  }
  for (const Point& point : present) both.Add(point, 0, retention_ms_);
  const size_t bytes_before = samples_.heap_bytes();
  samples_ = std::move(both);
  for (const std::shared_ptr<Watch>& watch : watches_) {
    if (watch->Mark()) to_tell.push_back(watch);
  }
  return {.outcome = SeriesSamples::Outcome::kAdded,
          .grown_by = samples_.heap_bytes() - bytes_before,
          .sender = sender()};
}

size_t StoredSeries::SetSender(Sender sender) {
  absl::MutexLock lock(&mutex_);
  sender_.store(sender, std::memory_order_relaxed);
  return samples_.heap_bytes();
}

std::optional<size_t> StoredSeries::Adopt(SeriesSamples samples) {
  absl::MutexLock lock(&mutex_);
  if (dropped_ || !samples_.empty()) return std::nullopt;
  samples_ = std::move(samples);
  return samples_.heap_bytes();
}

void StoredSeries::AppendChunksTo(std::vector<uint8_t>& bytes) const {
  absl::ReaderMutexLock lock(&mutex_);
  samples_.AppendChunksTo(bytes);
}

bool StoredSeries::OlderThan(int64_t time_ms) const {
  return samples_.empty() || samples_.last_ms() < time_ms;
}

bool StoredSeries::IsOlderThan(int64_t time_ms) const {
  absl::ReaderMutexLock lock(&mutex_);
  return OlderThan(time_ms);
}

std::optional<size_t> StoredSeries::DropSamples() {
  if (dropped_) return std::nullopt;
  dropped_ = true;
  watches_ = {};
  const size_t bytes = samples_.heap_bytes();
  samples_ = {};
  return bytes;
}

std::optional<size_t> StoredSeries::Drop() {
  absl::MutexLock lock(&mutex_);
  return DropSamples();
}

std::optional<size_t> StoredSeries::DropIfOlderThan(int64_t time_ms) {
  absl::MutexLock lock(&mutex_);
  if (!OlderThan(time_ms)) return std::nullopt;
  return DropSamples();
}

std::optional<size_t> StoredSeries::DropIfLaterThan(int64_t time_ms) {
  absl::MutexLock lock(&mutex_);
  if (samples_.empty() || samples_.last_ms() <= time_ms) return std::nullopt;
  return DropSamples();
}

void StoredSeries::AddWatch(const std::shared_ptr<Watch>& watch) {
  absl::MutexLock lock(&mutex_);
  if (dropped_ || std::count(watches_.begin(), watches_.end(), watch) > 0) return;
  watches_.push_back(watch);
}

void StoredSeries::RemoveWatch(const std::shared_ptr<Watch>& watch) {
  absl::MutexLock lock(&mutex_);
  watches_.erase(std::remove(watches_.begin(), watches_.end(), watch), watches_.end());
}

}  // namespace flyball::live
