#include "adapter/live/store/chunk.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace flyball::live {
namespace {

uint32_t FirstStep(absl::Span<const Point> samples) {
  if (samples.size() < 2) return 0;
  const uint64_t step =
      static_cast<uint64_t>(samples[1].time_ms) - static_cast<uint64_t>(samples[0].time_ms);
  return static_cast<uint32_t>(std::min<uint64_t>(step, std::numeric_limits<uint32_t>::max()));
}

// The predecessor of the first block: a made-up sample of the same value, one step before the
// first.
Predecessor BeforeChunk(const ChunkHead& head) {
  return {
      .time_ms = static_cast<int64_t>(static_cast<uint64_t>(head.first_ms) - head.first_step_ms),
      .step_ms = head.first_step_ms,
      .value = head.first_value};
}

bool TimesFit(absl::Span<const Point> samples, const ChunkHead& head) {
  const auto falls = [](const Point& a, const Point& b) { return a.time_ms >= b.time_ms; };
  return samples.front().time_ms == head.first_ms && samples.back().time_ms == head.last_ms &&
         std::adjacent_find(samples.begin(), samples.end(), falls) == samples.end();
}

}  // namespace

ChunkHead ReadChunkHead(const uint8_t* chunk) {
  ChunkHead head;
  std::memcpy(&head, chunk, sizeof head);
  return head;
}

Chunk::Chunk(absl::Span<const Point> samples, Predecessor& before) {
  const ChunkHead head{.first_ms = samples[0].time_ms,
                       .first_value = samples[0].value,
                       .first_step_ms = FirstStep(samples),
                       .bytes = sizeof head};
  before = BeforeChunk(head);
  Resize(sizeof head);
  std::memcpy(bytes_.get(), &head, sizeof head);
  for (size_t done = 0; done < samples.size(); done += kBlockSamples) {
    Add(samples.subspan(done, kBlockSamples), before);
  }
}

Chunk::Chunk(absl::Span<const uint8_t> bytes) {
  Resize(bytes.size());
  std::memcpy(bytes_.get(), bytes.data(), bytes.size());
}

void Chunk::Add(absl::Span<const Point> samples, Predecessor& before) {
  std::array<uint8_t, kMaxBlockBytes> block;
  const auto size = static_cast<size_t>(EncodeBlock(samples, before, block.data()) - block.data());
  ChunkHead now = head();
  Resize(now.bytes + size);
  std::memcpy(bytes_.get() + now.bytes, block.data(), size);
  now.last_ms = before.time_ms;
  now.bytes = static_cast<uint16_t>(now.bytes + size);
  now.samples = static_cast<uint16_t>(now.samples + samples.size());
  std::memcpy(bytes_.get(), &now, sizeof now);
}

void Chunk::Fill(size_t last_bytes, absl::Span<const Point> samples, Predecessor& before) {
  ChunkHead now = head();
  const size_t count = (now.samples - 1u) % kBlockSamples + 1;
  std::array<Point, kBlockSamples> all;
  const uint8_t* const end = bytes_.get() + now.bytes;
  Predecessor reading = before;
  DecodeBlock(end - last_bytes, end, count, reading, all.data());
  std::copy(samples.begin(), samples.end(), all.begin() + static_cast<std::ptrdiff_t>(count));
  now.bytes = static_cast<uint16_t>(now.bytes - last_bytes);
  now.samples = static_cast<uint16_t>(now.samples - count);
  std::memcpy(bytes_.get(), &now, sizeof now);
  Add(absl::MakeSpan(all).first(count + samples.size()), before);
}

Predecessor Chunk::BeforeFirst() const { return BeforeChunk(head()); }

void Chunk::Resize(size_t size) {
  void* const resized = std::realloc(bytes_.get(), size);
  if (resized == nullptr) std::abort();  // as operator new would end it
  (void)bytes_.release();
  bytes_.reset(static_cast<uint8_t*>(resized));
}

size_t ReadChunk(absl::Span<const uint8_t> bytes, std::vector<Point>& samples) {
  if (bytes.size() < sizeof(ChunkHead)) return 0;
  const ChunkHead head = ReadChunkHead(bytes.data());
  if (head.samples == 0 || head.samples > kMaxChunkSamples || head.bytes > bytes.size()) return 0;
  const uint8_t* at = bytes.data() + sizeof head;
  const uint8_t* const end = bytes.data() + head.bytes;
  Predecessor before = BeforeChunk(head);
  const size_t old_size = samples.size();
  samples.resize(old_size + head.samples);
  Point* const read = samples.data() + old_size;
  for (size_t done = 0; done < head.samples && at != nullptr && at <= end; done += kBlockSamples) {
    const size_t count = std::min(kBlockSamples, head.samples - done);
    at = DecodeBlock(at, end, count, before, read + done);
  }
  if (at == end && TimesFit(absl::MakeSpan(read, head.samples), head)) return head.bytes;
  samples.resize(old_size);
  return 0;
}

}  // namespace flyball::live
