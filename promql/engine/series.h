// Series as the engine reads them, and where it reads them.
//
// Times are int64 milliseconds since the epoch.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "absl/base/casts.h"
#include "promql/labels.h"
#include "promql/matcher.h"

namespace flyball::promql {

struct Point {
  int64_t time_ms = 0;
  double value = 0;
};

struct Series {
  LabelSet labels;
  std::deque<Point> points;  // rising times
};

// The NaN that says "this series ended here". Told from other NaNs by its bits only.
inline constexpr uint64_t kStaleBits = 0x7ff0000000000002;
inline double StaleMarker() { return absl::bit_cast<double>(kStaleBits); }
inline bool IsStale(double value) { return absl::bit_cast<uint64_t>(value) == kStaleBits; }

class SeriesReader {
 public:
  virtual ~SeriesReader() = default;

  // All series that match, in label order. The pointers hold until somebody writes what is read.
  virtual std::vector<const Series*> Select(const std::vector<Matcher>& matchers) const = 0;
};

}  // namespace flyball::promql
