// The largest of the counts of the last ticks, which delays scaling down.
//
// Pure. Not thread-safe. A slot is one tick of Unix time, however far apart the evaluations are; of
// several evaluations in one slot the largest count is kept.
//
// Source: Knative Serving v0.51.0 pkg/autoscaler/aggregation/max. Memory: a count is kept only
// until a later one is as large; at most one for each slot.
#pragma once

#include <cstdint>
#include <deque>

#include "absl/time/time.h"

namespace flyball::scaler {

class RecentMaximum {
 public:
  RecentMaximum(absl::Duration length, absl::Duration tick);

  // Records the count and returns the largest one of the window that ends now.
  int32_t Record(absl::Time now, int32_t count);

 private:
  struct RecordedCount {
    int64_t slot = 0;
    int32_t count = 0;
  };

  absl::Duration tick_;
  int64_t slots_;
  std::deque<RecordedCount> falling_;  // slots rise, counts fall
};

}  // namespace flyball::scaler
