// Notices that the process did not run for a while: it was stopped, its machine was paused, or it
// got no processor. What watches have told is out of date then, although none has failed: the
// process may go on with a decision before it reads what has arrived meanwhile.
//
// Thread-safe; one thread calls Beat.
#pragma once

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"
#include "base/clock.h"

namespace flyball::scaler {

class StallDetector {
 public:
  // How often Beat is to be called.
  static constexpr absl::Duration kBeat = absl::Milliseconds(250);
  // A longer time between two calls is a stall.
  static constexpr absl::Duration kStall = absl::Seconds(1);
  // For how long a stall counts after it was noticed: until then all threads have run again.
  static constexpr absl::Duration kRecent = absl::Seconds(2);

  void Beat(MonotonicTime now);

  // Whether a stall has ended within kRecent, or is ending at this moment. False before the first
  // beat.
  bool IsRecent(MonotonicTime now) const;

 private:
  static constexpr int64_t kNever = INT64_MIN;

  std::atomic<int64_t> beaten_ns_ = kNever;
  std::atomic<int64_t> noticed_ns_ = kNever;
};

}  // namespace flyball::scaler
