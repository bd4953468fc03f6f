// Makes delta series cumulative: keeps the totals of OTLP's delta sums and histograms.
//
// Thread-safe. The time is an argument. Limits: the bytes of the totals; the bounds that the points
// of a request get in addition to their own, each of which is a stored sample. A series without a
// point for the retention is forgotten, and then begins at zero like a counter that was reset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "adapter/live/formats/otlp.h"
#include "base/recently_used.h"
#include "base/striped.h"

namespace flyball::live {

class DeltaTotals {
 public:
  static constexpr size_t kMaxBytes = 64 << 20;

  explicit DeltaTotals(int64_t retention_ms, size_t max_bytes = kMaxBytes)
      : retention_ms_(retention_ms), max_bytes_per_stripe_(max_bytes / kStripes) {}

  // One request of a sender.
  struct Request {
    int64_t now_ms = 0;
    // How many bounds its points may still get that their series has and they lack.
    size_t bounds_left = 0;
  };

  // The outcome for the samples of one point.
  struct Stored {
    absl::Status status;  // the first error
    bool some = false;    // at least one of them was stored
  };

  // Replaces the point's differences by the totals of the series that `key` names, and calls
  // `store`. The new totals are kept unless nothing was stored, since samples below earlier ones
  // would look like a restart. New bounds are added to those of the series.
  //   kInvalidArgument    the point begins before the last one ended, falls, is not finite, or has
  //                       too many bounds
  //   kOutOfRange         the request has no bounds left
  //   kResourceExhausted  a new series, and there is no room
  //   any error of `store`
  absl::Status Add(absl::string_view key, formats::OtlpPoint& point, Request& request,
                   absl::FunctionRef<Stored()> store);

 private:
  static constexpr size_t kStripes = 16;

  struct SeriesTotal {
    int64_t last_ns = 0;  // when the last point ended
    int64_t told_ms = 0;  // when it arrived
    double value = 0, count = 0, sum = 0;
    std::vector<formats::OtlpBucket> buckets;
    size_t bytes = 0;
  };
  struct Stripe {
    RecentlyUsed<SeriesTotal> totals;
    size_t bytes = 0;
  };

  void ForgetIdle(int64_t now_ms, Stripe& stripe) const;

  const int64_t retention_ms_;
  const size_t max_bytes_per_stripe_;
  Striped<Stripe, kStripes> stripes_;
};

}  // namespace flyball::live
