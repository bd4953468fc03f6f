// links: live_store
//
// Chunks of samples: whatever bytes are taken as such have samples in rising time, and these, taken
// one by one, give the same samples again, to the bit.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

#include "absl/types/span.h"
#include "adapter/live/store/series_samples.h"

namespace {

using flyball::live::Point;
using flyball::live::SeriesSamples;

constexpr int64_t kEarliest = std::numeric_limits<int64_t>::min();
constexpr int64_t kLatest = std::numeric_limits<int64_t>::max();

void Require(bool holds) {
  if (!holds) std::abort();
}

std::vector<Point> All(const SeriesSamples& samples) {
  std::vector<Point> points;
  samples.Read(kEarliest, kLatest, points);
  return points;
}

bool Same(const std::vector<Point>& a, const std::vector<Point>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(Point)) == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  SeriesSamples adopted;
  if (!adopted.AdoptChunks(absl::MakeSpan(data, size))) {
    Require(adopted.empty());
    return 0;
  }
  const std::vector<Point> points = All(adopted);
  SeriesSamples fed;
  for (size_t i = 0; i < points.size(); ++i) {
    Require(i == 0 || points[i - 1].time_ms < points[i].time_ms);
    Require(fed.Add(points[i], 0, kLatest) == SeriesSamples::Outcome::kAdded);
  }
  Require(Same(All(fed), points));
  std::vector<uint8_t> bytes;
  fed.AppendChunksTo(bytes);
  SeriesSamples again;
  Require(again.AdoptChunks(bytes));
  Require(Same(All(again), points));
  return 0;
}
