// Equal queries are one query: those that ask while it is under way wait for it, those that come
// while its result is fresh get that result.
//
// Thread-safe; no threads of its own: the first caller asks the source, the others wait for it. The
// map is sharded, and no lock is held while the source is asked.
//
//   - A result is fresh for `freshness` from the moment its query was sent, so that one a second
//     (the default) goes out for each different query. Zero: only queries under way are shared.
//   - Nobody waits for what is asked all the time: shortly before a result goes stale (four times
//     as long as its query took, at most a twentieth of `freshness`) one caller asks anew while the
//     others still get the old one. Should that fail, the caller gets the old one, too.
//   - A failure is given again for `error_reuse`, so that a source that is down is asked at most
//     ten times a second for one query; never with zero freshness.
//   - A caller may wish for a younger result than `freshness` would give: one that was sent at most
//     max_age ago, or that is under way.
//   - A result that was made of samples of which its source tells is fresh only as long as no other
//     one came; whoever joins a query during which one came has it asked once more.
//   - Whoever holds a standing query asks the source itself, and is told what it says now.
//   - A caller waits until its own deadline. When the caller that asks runs out of time, one of
//     those that wait asks anew.
//
// Limits: `max_results` results, and about `max_bytes` of them, are kept, a fresh one longer than
// an old one; Sweep drops those that are out of date.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "adapter/queries/metric_source.h"
#include "adapter/queries/query_observer.h"
#include "base/clock.h"

namespace flyball::adapter {

struct FlightOptions {
  absl::Duration freshness = absl::Seconds(1);
  absl::Duration error_reuse = absl::Milliseconds(100);
  size_t max_results = 4096;
  size_t max_bytes = 12 << 20;  // of queries and results
};

struct FreshResult {
  std::shared_ptr<const QueryResult> result;
  MonotonicTime sent;
  absl::Duration took;        // until the answer was there
  MonotonicTime fresh_until;  // not later than now when results are not reused
  MonotonicTime refresh_at;   // not later than fresh_until: whoever wants it from then on asks anew

  bool HoldsAt(MonotonicTime now) const {
    return now < fresh_until && (result == nullptr || result->read.AreNewest());
  }
};

class QueryFlights {
 public:
  // All outlive this; `observer` may be nullptr.
  QueryFlights(MetricSource& source, Clock& clock, FlightOptions options, QueryObserver* observer);

  // Evaluates `promql` now, or as it was at most `freshness` ago and at most max_age.
  // kDeadlineExceeded, or the source's errors.
  absl::StatusOr<FreshResult> Query(absl::string_view promql, MonotonicTime deadline,
                                    absl::Duration max_age = absl::InfiniteDuration(),
                                    rules::SourceChoice choice = rules::SourceChoice::kAny);
  // What the holder of a standing query is told now. The same errors.
  absl::StatusOr<StandingResult> Ask(StandingQuery& query, MonotonicTime deadline);

  // Drops what cannot be given again.
  void Sweep();

 private:
  struct Flight {
    absl::Mutex mutex;
    bool done ABSL_GUARDED_BY(mutex) = false;
    absl::Status status ABSL_GUARDED_BY(mutex);
    FreshResult fresh ABSL_GUARDED_BY(mutex);
    size_t bytes ABSL_GUARDED_BY(mutex) = 0;  // about what the result takes

    bool Done() const ABSL_SHARED_LOCKS_REQUIRED(mutex) { return done; }
    // Under way, or done and fresh at `now`.
    bool Joinable(MonotonicTime now, absl::Duration max_age = absl::InfiniteDuration())
        ABSL_LOCKS_EXCLUDED(mutex);
    // Done, and what it brought should be asked for anew, fresh or not.
    bool Aging(MonotonicTime now) ABSL_LOCKS_EXCLUDED(mutex);
    size_t Bytes() ABSL_LOCKS_EXCLUDED(mutex);
  };
  // What is known of one query.
  struct FlightPair {
    std::shared_ptr<Flight> current;
    std::shared_ptr<Flight> next;  // sent ahead, takes current's place; nullptr: none

    bool Joinable(MonotonicTime now) const {
      return current->Joinable(now) || (next != nullptr && next->Joinable(now));
    }
    size_t Bytes() const { return current->Bytes() + (next != nullptr ? next->Bytes() : 0); }
  };
  struct Shard {
    absl::Mutex mutex;
    absl::flat_hash_map<std::string, FlightPair> flights ABSL_GUARDED_BY(mutex);  // by Asked::key
    size_t bytes ABSL_GUARDED_BY(mutex) = 0;  // at most: counted anew when stale ones are dropped
  };
  // A caller's part in a query.
  struct Part {
    std::shared_ptr<Flight> flight;  // to wait for
    bool lead = false;               // the caller must fly it
    std::shared_ptr<Flight> old;     // still fresh, when the flight is sent ahead
  };

  static constexpr size_t kShards = 16;

  // What is asked of whom.
  struct Asked {
    absl::string_view promql;
    rules::SourceChoice choice;
    std::string key;
  };

  Shard& ShardOf(absl::string_view key);
  Part Join(absl::string_view key, absl::Duration max_age);
  void Fly(const Asked& asked, MonotonicTime deadline, Flight& flight);
  // Puts a flight that has ended in its place, or out of it.
  void Land(absl::string_view key, Flight& flight, bool ok, bool reusable);
  // What `old` brought, if it is still fresh.
  std::optional<FreshResult> StillFresh(Flight* old);
  void DropStale(Shard& shard, MonotonicTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex);
  // Drops all that has come back.
  void DropDone(Shard& shard) ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex);
  void CountBytes(Shard& shard) ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex);
  // Of all shards together.
  void KeepWithinBytes();
  void Count(QueryOutcome outcome);

  MetricSource& source_;
  Clock& clock_;
  const FlightOptions options_;
  QueryObserver* const observer_;
  std::atomic<size_t> bytes_ = 0;  // of all shards
  std::array<Shard, kShards> shards_;
};

}  // namespace flyball::adapter
