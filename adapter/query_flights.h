// Equal queries are one query: those that ask while it is under way wait for it, those that come
// while its result is fresh get that result.
//
// Thread-safe; no threads of its own: the first caller asks the source, the others wait for it. The
// map is sharded, and no lock is held while the source is asked.
//
//   - A result is fresh for `freshness` from the moment its query was sent, so that at most one a
//     second (the default) goes out for each different query. Zero: only queries under way are
//     shared.
//   - A failure is given again for `error_reuse`, so that a source that is down is asked at most
//     ten times a second for one query; never with zero freshness.
//   - A caller waits until its own deadline. When the caller that asks runs out of time, one of
//     those that wait asks anew.
//
// Limits: `max_results` results are kept, a fresh one longer than an old one; Sweep drops those
// that are out of date.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "adapter/metric_source.h"
#include "adapter/metrics.h"
#include "base/clock.h"

namespace flyball::adapter {

struct FlightOptions {
  absl::Duration freshness = absl::Seconds(1);
  absl::Duration error_reuse = absl::Milliseconds(100);
  size_t max_results = 4096;
};

struct FreshResult {
  std::shared_ptr<const QueryResult> result;
  MonotonicTime fresh_until;  // not later than now when results are not reused
};

class QueryFlights {
 public:
  // All outlive this; `metrics` may be nullptr.
  QueryFlights(MetricSource& source, Clock& clock, FlightOptions options, AdapterMetrics* metrics);

  // Evaluates `promql` now, or as it was at most `freshness` ago. kDeadlineExceeded, or the
  // source's errors.
  absl::StatusOr<FreshResult> Query(absl::string_view promql, MonotonicTime deadline);

  // Drops what cannot be given again.
  void Sweep();

 private:
  struct Flight {
    absl::Mutex mutex;
    bool done ABSL_GUARDED_BY(mutex) = false;
    absl::Status status ABSL_GUARDED_BY(mutex);
    FreshResult fresh ABSL_GUARDED_BY(mutex);

    bool Done() const ABSL_SHARED_LOCKS_REQUIRED(mutex) { return done; }
    // Under way, or done and fresh at `now`.
    bool Joinable(MonotonicTime now) ABSL_LOCKS_EXCLUDED(mutex);
  };
  struct Shard {
    absl::Mutex mutex;
    absl::flat_hash_map<std::string, std::shared_ptr<Flight>> flights ABSL_GUARDED_BY(mutex);
  };

  static constexpr size_t kShards = 16;

  Shard& ShardOf(absl::string_view promql);
  // The flight to wait for, or a new one that the caller must fly (`lead`).
  std::shared_ptr<Flight> Join(absl::string_view promql, bool& lead);
  void Fly(absl::string_view promql, MonotonicTime deadline, Flight& flight);
  void DropStale(Shard& shard, MonotonicTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex);
  void Count(QueryOutcome outcome);

  MetricSource& source_;
  Clock& clock_;
  const FlightOptions options_;
  AdapterMetrics* const metrics_;
  std::array<Shard, kShards> shards_;
};

}  // namespace flyball::adapter
