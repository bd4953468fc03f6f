// Series as the engine reads them, and where it reads them.
//
// Times are int64 milliseconds since the epoch.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

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
double StaleMarker();
bool IsStale(double value);

class SeriesReader {
 public:
  virtual ~SeriesReader() = default;

  // All series that match, in label order. The pointers hold until somebody writes what is read.
  virtual std::vector<const Series*> Select(const std::vector<Matcher>& matchers) const = 0;
};

}  // namespace flyball::promql
