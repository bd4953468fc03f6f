// How far back a query reads, and whether the live source has samples since then. What it has not
// received yet must not count as absent, or a target would look idle after each start.
//
// Pure. Times in milliseconds since the epoch.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "adapter/live/kept_since.h"
#include "promql/ast.h"

namespace flyball::adapter {

// Which of all past samples the live source has.
struct LiveWindow {
  std::shared_ptr<const KeptSince> kept;  // nullptr: all of them
  // Samples older than this may have been forgotten.
  absl::Duration retention = absl::InfiniteDuration();
  // How long it takes until each series has arrived once. An instant selector counts as reading
  // that far back, and not for the whole lookback, with which every query would be unknown for five
  // minutes after a start.
  absl::Duration warmup = absl::ZeroDuration();
};

// Calls `see` with each selector of a query that is asked at `time_ms` and the earliest time that
// it reads; an instant selector reads `warmup_ms` back. Times saturate at the limits of int64.
void ForEachRead(const promql::Expr& expr, int64_t time_ms, int64_t warmup_ms,
                 absl::FunctionRef<void(const promql::Selector&, int64_t since_ms)> see);

// kUnavailable, with both times, where the query reads samples from before the window of one of its
// selectors.
absl::Status CheckReach(const promql::Expr& expr, int64_t time_ms, const LiveWindow& window);

}  // namespace flyball::adapter
