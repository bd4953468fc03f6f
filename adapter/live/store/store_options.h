// What the store keeps and what it refuses, and how often it has refused.
#pragma once

#include <cstddef>
#include <cstdint>

namespace flyball::live {

struct StoreOptions {
  // A sample may be forgotten once the newest one of its series is younger by more than this; a
  // series once now is later than its newest sample by more than this.
  int64_t retention_ms = 10 * 60'000;
  // A sample that is older than the newest one of its series is taken up to this age. Prometheus
  // takes none by default. Ours has senders that Prometheus has not: collectors whose parallel
  // batches overtake each other and are sent again, by which samples are late by seconds. Ten
  // seconds let those in and are less than the windows over which scalers look.
  int64_t out_of_order_ms = 10'000;
  // A sample that is later than now by more than this is refused, as by Prometheus.
  int64_t max_ahead_ms = 10 * 60'000;

  // New series are refused when there are as many, or when all together take as many bytes. Those
  // that there are go on: an hour's samples of theirs are worth more than the first of another.
  size_t max_series = 1'000'000;
  size_t max_bytes = size_t{1} << 30;
  // Of one series.
  size_t max_labels = 64;
  size_t max_label_name_bytes = 256;
  size_t max_label_value_bytes = 4096;
};

// Since the store was made, but for the first two, which are of now.
struct StoreCounts {
  size_t series = 0;
  size_t bytes = 0;  // about: what the series, their samples and their labels take
  uint64_t made = 0;     // series
  uint64_t refused_max_series = 0;
  uint64_t refused_max_bytes = 0;
  uint64_t refused_labels = 0;
  uint64_t not_kept = 0;  // times that a series was not made because nothing uses it
};

}  // namespace flyball::live
