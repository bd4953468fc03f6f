// Interrupts long work at a deadline, or when its caller gives up.
#pragma once

#include <cstddef>
#include <functional>

#include "absl/status/status.h"

namespace flyball::promql {

// Called now and then during long work; an error ends the work with that error. An empty function
// never interrupts.
using Interrupted = std::function<absl::Status()>;

// Counts small steps of work, of some ten nanoseconds each, and asks after every 65,536 of them.
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
