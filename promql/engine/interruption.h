// Work that a deadline, or whoever waits for it, may end.
#pragma once

#include <cstddef>
#include <functional>

#include "absl/status/status.h"

namespace flyball::promql {

// Asked now and then while something long runs; an error ends it with that error. Empty: never.
using Interrupted = std::function<absl::Status()>;

// Counts steps of work, small ones of some ten nanoseconds, and asks once in 65,536 of them.
class WorkMeter {
 public:
  explicit WorkMeter(const Interrupted& interrupted) : interrupted_(interrupted) {}

  absl::Status Count(size_t steps) {
    since_asked_ += steps;
    if (since_asked_ < kBetween || !interrupted_) return absl::OkStatus();
    since_asked_ = 0;
    return interrupted_();
  }

 private:
  static constexpr size_t kBetween = 1 << 16;

  const Interrupted& interrupted_;
  size_t since_asked_ = 0;
};

}  // namespace flyball::promql
