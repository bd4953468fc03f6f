#include "adapter/live/store/series_samples.h"

#include <algorithm>
#include <utility>

#include "absl/base/casts.h"
#include "adapter/live/store/times.h"

namespace flyball::live {
namespace {

using Outcome = SeriesSamples::Outcome;

bool IsEarlier(const Point& point, int64_t time_ms) { return point.time_ms < time_ms; }

Outcome Beside(const Point& there, const Point& sample) {
  return absl::bit_cast<uint64_t>(there.value) == absl::bit_cast<uint64_t>(sample.value)
             ? Outcome::kThere
             : Outcome::kDuplicate;
}

// Puts the sample at its place in `points`, which are in rising time.
Outcome InsertSorted(Point sample, std::vector<Point>& points) {
  const auto at = std::lower_bound(points.begin(), points.end(), sample.time_ms, IsEarlier);
  if (at != points.end() && at->time_ms == sample.time_ms) return Beside(*at, sample);
  points.insert(at, sample);
  return Outcome::kAdded;
}

// Removes the samples of `points` from `begin` on that are outside the times.
void KeepBetween(size_t begin, int64_t from_ms, int64_t to_ms, std::vector<Point>& points) {
  while (points.size() > begin && points.back().time_ms > to_ms) points.pop_back();
  const auto first = points.begin() + static_cast<std::ptrdiff_t>(begin);
  points.erase(first, std::lower_bound(first, points.end(), from_ms, IsEarlier));
}

}  // namespace

Outcome SeriesSamples::Add(Point sample, int64_t window_ms, int64_t retention_ms) {
  if (empty() || sample.time_ms > last_ms()) {
    PushNewest(sample, retention_ms);
    return Outcome::kAdded;
  }
  if (sample.time_ms == last_ms()) return Beside(newest().back(), sample);
  if (sample.time_ms < Earlier(last_ms(), window_ms)) return Outcome::kTooOld;
  return Insert(sample);
}

void SeriesSamples::PushNewest(Point sample, int64_t retention_ms) {
  if (newest_count_ == kNewestSamples) {
    if (!open_ && half_bytes_ == 0) ForgetBefore(Earlier(sample.time_ms, retention_ms));
    MoveNewestToChunks();
    newest_count_ = 0;
  }
  newest_[newest_count_++] = sample;
}

void SeriesSamples::MoveNewestToChunks() {
  if (half_bytes_ > 0) {
    Chunk& last = chunks_.back();
    chunk_bytes_ -= last.head().bytes;
    last.Fill(half_bytes_, newest(), before_);
    chunk_bytes_ += last.head().bytes;
    half_bytes_ = 0;
    open_ = last.head().samples < kChunkSamples;
    return;
  }
  // The half block is written again together with the other half, so `before_` stays as it is.
  Predecessor behind;
  size_t bytes_before = sizeof(ChunkHead);
  if (open_) {
    bytes_before = chunks_.back().head().bytes;
    behind = before_;
    chunks_.back().Add(newest(), behind);
    chunk_bytes_ += static_cast<uint32_t>(chunks_.back().head().bytes - bytes_before);
  } else {
    Append(Chunk(newest(), behind));
    before_ = chunks_.back().BeforeFirst();
  }
  half_bytes_ = static_cast<uint16_t>(chunks_.back().head().bytes - bytes_before);
}

void SeriesSamples::Append(Chunk chunk) {
  chunk_bytes_ += chunk.head().bytes;
  chunks_.push_back(std::move(chunk));
}

void SeriesSamples::ForgetBefore(int64_t time_ms) {
  auto old = chunks_.begin();
  for (; old != chunks_.end() && old->head().last_ms < time_ms; ++old) {
    chunk_bytes_ -= old->head().bytes;
  }
  chunks_.erase(chunks_.begin(), old);
}

SeriesSamples::Forgotten SeriesSamples::ForgetBeyond(size_t max_heap_bytes) {
  Forgotten forgotten;
  size_t left = chunk_bytes_ + chunks_.size() * sizeof(Chunk);
  while (left > max_heap_bytes && forgotten.chunks < chunks_.size()) {
    const ChunkHead head = chunks_[forgotten.chunks++].head();
    forgotten.last_ms = head.last_ms;
    chunk_bytes_ -= head.bytes;
    left -= head.bytes + sizeof(Chunk);
  }
  if (forgotten.chunks == 0) return forgotten;
  chunks_.erase(chunks_.begin(), chunks_.begin() + static_cast<std::ptrdiff_t>(forgotten.chunks));
  if (chunks_.capacity() > 2 * chunks_.size()) chunks_.shrink_to_fit();
  if (chunks_.empty()) {
    open_ = false;
    half_bytes_ = 0;
  }
  return forgotten;
}

Outcome SeriesSamples::Insert(Point sample) {
  if (sample.time_ms < newest_[0].time_ms) {
    const Outcome outcome = InsertIntoChunks(sample);
    if (outcome != Outcome::kTooOld) return outcome;
  }
  std::vector<Point> points(newest().begin(), newest().end());
  const Outcome outcome = InsertSorted(sample, points);
  if (outcome != Outcome::kAdded) return outcome;
  newest_count_ = 0;
  for (const Point& point : points) PushNewest(point, std::numeric_limits<int64_t>::max());
  return Outcome::kAdded;
}

// kTooOld: it belongs behind the last chunk.
Outcome SeriesSamples::InsertIntoChunks(Point sample) {
  const auto at = std::find_if(chunks_.begin(), chunks_.end(), [&sample](const Chunk& chunk) {
    return chunk.head().last_ms >= sample.time_ms;
  });
  if (at == chunks_.end()) return Outcome::kTooOld;
  std::vector<Point> points;
  at->Read(points);
  const Outcome outcome = InsertSorted(sample, points);
  if (outcome != Outcome::kAdded) return outcome;

  if (at == chunks_.end() - 1) {  // its last block may no longer be whole
    open_ = false;
    half_bytes_ = 0;
  }
  chunk_bytes_ -= at->head().bytes;
  Predecessor before;
  const size_t half = points.size() > 2 * kChunkSamples ? points.size() / 2 : points.size();
  *at = Chunk(absl::MakeSpan(points).first(half), before);
  chunk_bytes_ += at->head().bytes;
  if (half < points.size()) {
    Chunk rest(absl::MakeSpan(points).subspan(half), before);
    chunk_bytes_ += rest.head().bytes;
    chunks_.insert(at + 1, std::move(rest));
  }
  return Outcome::kAdded;
}

void SeriesSamples::Read(int64_t from_ms, int64_t to_ms, std::vector<Point>& points) const {
  const size_t begin = points.size();
  for (const Chunk& chunk : chunks_) {
    const ChunkHead head = chunk.head();
    if (head.first_ms > to_ms) break;
    if (head.last_ms >= from_ms) chunk.Read(points);
  }
  for (const Point& point : newest()) points.push_back(point);
  KeepBetween(begin, from_ms, to_ms, points);
}

std::optional<Point> SeriesSamples::Newest(int64_t from_ms, int64_t to_ms) const {
  for (size_t i = newest_count_; i-- > 0;) {
    if (newest_[i].time_ms > to_ms) continue;
    return newest_[i].time_ms >= from_ms ? std::optional(newest_[i]) : std::nullopt;
  }
  std::vector<Point> points;
  Read(from_ms, to_ms, points);
  return points.empty() ? std::nullopt : std::optional(points.back());
}

void SeriesSamples::AppendChunksTo(std::vector<uint8_t>& bytes) const {
  const auto append = [&bytes](const Chunk& chunk) {
    bytes.insert(bytes.end(), chunk.bytes().begin(), chunk.bytes().end());
  };
  for (const Chunk& chunk : chunks_) append(chunk);
  Predecessor before;
  if (!empty()) append(Chunk(newest(), before));
}

bool SeriesSamples::AdoptChunks(absl::Span<const uint8_t> bytes) {
  SeriesSamples adopted;
  std::vector<Point> last;  // the samples of the chunk that is read
  while (!bytes.empty()) {
    const std::optional<int64_t> last_ms =
        last.empty() ? std::nullopt : std::optional(last.back().time_ms);
    last.clear();
    const size_t size = ReadChunk(bytes, last);
    if (size == 0 || (last_ms && last.front().time_ms <= *last_ms)) return false;
    if (size < bytes.size()) adopted.Append(Chunk(bytes.first(size)));
    bytes.remove_prefix(size);
  }
  if (last.empty()) return false;
  // The last few become the newest again, the rest of the last chunk whole blocks.
  const size_t whole = (last.size() - 1) / kBlockSamples * kBlockSamples;
  Predecessor before;
  if (whole > 0) adopted.Append(Chunk(absl::MakeSpan(last).first(whole), before));
  for (size_t i = whole; i < last.size(); ++i) {
    adopted.PushNewest(last[i], std::numeric_limits<int64_t>::max());
  }
  *this = std::move(adopted);
  return true;
}

}  // namespace flyball::live
