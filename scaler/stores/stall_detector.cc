#include "scaler/stores/stall_detector.h"

namespace flyball::scaler {
namespace {

// Whether `since` was longer than `limit` ago.
bool IsOver(int64_t since_ns, absl::Duration limit, MonotonicTime now) {
  return now - absl::Nanoseconds(since_ns) > limit;
}

}  // namespace

void StallDetector::Beat(MonotonicTime now) {
  const int64_t now_ns = absl::ToInt64Nanoseconds(now);
  const int64_t before_ns = beaten_ns_;
  // Before the beat, which hides the stall from IsRecent.
  if (before_ns != kNever && IsOver(before_ns, kStall, now)) noticed_ns_ = now_ns;
  beaten_ns_ = now_ns;
}

bool StallDetector::IsRecent(MonotonicTime now) const {
  const int64_t beaten_ns = beaten_ns_;
  if (beaten_ns == kNever) return false;
  if (IsOver(beaten_ns, kStall, now)) return true;
  const int64_t noticed_ns = noticed_ns_;
  return noticed_ns != kNever && !IsOver(noticed_ns, kRecent, now);
}

}  // namespace flyball::scaler
