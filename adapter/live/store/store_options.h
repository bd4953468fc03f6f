// The limits of the store, and counts of what it has refused.
#pragma once

#include <cstddef>
#include <cstdint>

namespace flyball::live {

// Who sends the samples. kAnybody: whoever may run a pod can have it scraped, so the series of one
// namespace, by their label, leave room for those of others (NamespaceShares). kUnclaimed: samples
// of the past, whose series becomes that of the first sender that continues it.
enum class Sender { kTrusted, kAnybody, kUnclaimed };

struct StoreOptions {
  // A sample may be forgotten once it is older than the newest one of its series by more than this;
  // a series once its newest sample is older than now by more than this.
  int64_t retention_ms = 10 * 60'000;
  // A sample that is older than the newest one of its series is accepted up to this difference.
  // Prometheus accepts none by default. This store has senders that Prometheus does not have:
  // collectors whose parallel batches overtake each other and are retried, so that samples are late
  // by seconds. Ten seconds are enough for those, and less than the windows over which scalers
  // read. Scraped samples (ScrapedSamples) have to be newer.
  int64_t out_of_order_ms = 10'000;
  // A sample that is later than now by more than this is refused, as by Prometheus.
  int64_t max_ahead_ms = 10 * 60'000;

  // New series are refused if there are this many, or if all together take this many bytes. For
  // other senders, bytes of kAnybody's series do not count until all take five eighths more.
  // Existing series continue, since their past samples are worth more than the first of a new one;
  // but once they take half as much again, those that get samples and take more than an equal part
  // forget their oldest. So a sender of ever more samples shortens the past of its own series.
  size_t max_series = 1'000'000;
  size_t max_bytes = size_t{1} << 30;
  // Limits for one series.
  size_t max_labels = 64;
  size_t max_label_name_bytes = 256;
  size_t max_label_value_bytes = 4096;
};

// Counts since the store was made, except for the first two, which are present values.
struct StoreCounts {
  size_t series = 0;
  size_t bytes = 0;   // about: what the series, their samples and their labels take
  uint64_t made = 0;  // series
  // Those of `made` whose metric name with their label names no other series had then.
  uint64_t new_names = 0;
  uint64_t refused_max_series = 0;
  uint64_t refused_max_bytes = 0;
  uint64_t refused_labels = 0;
  uint64_t forgotten_chunks = 0;  // of samples, since all series took too many bytes
  uint64_t not_kept = 0;          // series that were not made because nothing uses them
};

}  // namespace flyball::live
