// How far back a query reads, and whether the live source has samples since then: what it has not
// seen yet it must not take for absent, or a target would look idle after each start.
//
// Pure. Times in milliseconds since the epoch.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "promql/ast.h"

namespace flyball::adapter {

// From when on the live source has all samples that there were.
struct LiveWindow {
  absl::Time complete_since = absl::InfinitePast();
  // Samples that are older than now by more than this may have been forgotten.
  absl::Duration retention = absl::InfiniteDuration();
  // How long it takes until each series has been seen once. An instant selector reads that far
  // back: not for the whole lookback, which would leave every query unknown for five minutes.
  absl::Duration warmup = absl::ZeroDuration();
};

// The earliest time that the query reads when it is asked at `time_ms`, where an instant selector
// reads `warmup_ms` back. nullopt: it reads no samples. Times stop at the earliest and latest that
// there are.
std::optional<int64_t> ReadsSince(const promql::Expr& expr, int64_t time_ms, int64_t warmup_ms);

// kUnavailable, with both times, where the query reads samples from before the window.
absl::Status CheckReach(const promql::Expr& expr, int64_t time_ms, const LiveWindow& window);

}  // namespace flyball::adapter
