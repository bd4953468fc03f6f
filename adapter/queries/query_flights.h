// Makes equal queries one query: callers that ask while it is under way wait for it, and those that
// come while its result is fresh get that result.
//
// Thread-safe; no threads of its own: the first caller asks the source, the others wait for it. The
// queries are spread over several locks, none of which is held while the source is asked.
//
//   - A result is fresh for `freshness` from the moment its query was sent, so that each different
//     query is sent once a second (the default). Zero: only queries under way are shared.
//   - Callers hardly ever wait for a query that is asked all the time: shortly before its result
//     goes stale (four times as long as the query took, at most a twentieth of `freshness`) one
//     caller asks anew while the others still get the old result. If that fails, the caller gets
//     the old result as well.
//   - A failure is returned again for `error_reuse`, so that a source that is down is asked at most
//     ten times a second for one query; not so with zero freshness.
//   - A caller may ask for a younger result than `freshness` would give: one that was sent at most
//     max_age ago, or that is under way.
//   - If the source reports samples, a result is fresh only until another sample arrives for it; if
//     one arrives while the query is under way, callers that have joined it send it once more.
//   - A standing query always asks the source itself.
//   - A caller waits until its own deadline. If the caller that asks runs out of time, one of those
//     that wait asks anew.
//
// Limits: `max_results` results, and about `max_bytes` of them, are kept, fresh ones longer than
// old ones; Sweep drops those that are out of date.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "adapter/queries/metric_source.h"
#include "adapter/queries/query_observer.h"
#include "base/clock.h"
#include "base/striped.h"

namespace flyball::adapter {

struct FlightOptions {
  absl::Duration freshness = absl::Seconds(1);
  absl::Duration error_reuse = absl::Milliseconds(100);
  size_t max_results = 4096;
  size_t max_bytes = 6 << 20;  // of queries and results
};

struct FreshResult {
  // QueryResult::counted, of the caller that asked. First, so that it is let go after the result.
  std::shared_ptr<const void> counted = nullptr;
  std::shared_ptr<const QueryResult> result;
  MonotonicTime sent;
  absl::Duration took;  // until the answer was there
  Freshness freshness;  // how long it is given again; the epoch is the provider's
};

// About what the result takes.
size_t BytesOf(const QueryResult& result);

// Whether a query that was given so much time failed for the server's sake: it was not refused, and
// it is not that its caller had hardly any time left.
inline bool IsOfTheServer(const absl::Status& status, absl::Duration given) {
  return absl::IsUnavailable(status) ||
         (absl::IsDeadlineExceeded(status) && given >= absl::Seconds(1));
}

class QueryFlights {
 public:
  // All outlive this; `observer` may be nullptr.
  QueryFlights(MetricSource& source, Clock& clock, FlightOptions options, QueryObserver* observer);

  // Evaluates `promql` now, or returns a result that is at most `freshness` and at most max_age
  // old. kDeadlineExceeded, or the source's errors.
  absl::StatusOr<FreshResult> Query(absl::string_view promql, MonotonicTime deadline,
                                    absl::Duration max_age = absl::InfiniteDuration(),
                                    rules::SourceChoice choice = rules::SourceChoice::kAny);
  // Asks a standing query now. The errors are the same.
  absl::StatusOr<StandingResult> Ask(StandingQuery& query, MonotonicTime deadline);

  // How many queries failed because of the source since it last answered or refused one.
  size_t unanswered() const { return unanswered_; }

  // Drops results that can no longer be returned.
  void Sweep();

 private:
  struct Flight {
    absl::Mutex mutex;
    bool done ABSL_GUARDED_BY(mutex) = false;
    absl::Status status ABSL_GUARDED_BY(mutex);
    FreshResult fresh ABSL_GUARDED_BY(mutex);
    size_t bytes ABSL_GUARDED_BY(mutex) = 0;  // about what the result takes

    bool Done() const ABSL_SHARED_LOCKS_REQUIRED(mutex) { return done; }
    // Whether it is under way, or done and fresh at `now`.
    bool Joinable(MonotonicTime now, absl::Duration max_age = absl::InfiniteDuration())
        ABSL_LOCKS_EXCLUDED(mutex);
    // Whether it is done and should be asked again, even if it is still fresh.
    bool Aging(MonotonicTime now) ABSL_LOCKS_EXCLUDED(mutex);
    size_t Bytes() ABSL_LOCKS_EXCLUDED(mutex);
  };
  // The flights of one query.
  struct FlightPair {
    std::shared_ptr<Flight> current;
    std::shared_ptr<Flight> next;  // sent ahead of time, to replace `current`; nullptr: none

    bool Joinable(MonotonicTime now) const {
      return current->Joinable(now) || (next != nullptr && next->Joinable(now));
    }
    size_t Bytes() const { return current->Bytes() + (next != nullptr ? next->Bytes() : 0); }
  };
  // A part of the queries.
  struct KnownFlights {
    absl::flat_hash_map<std::string, FlightPair> of;  // by Asked::key
    size_t bytes = 0;  // upper bound, corrected when some are dropped
  };
  // The role of a caller in a query.
  struct Part {
    std::shared_ptr<Flight> flight;  // to wait for
    bool lead = false;               // the caller must fly it
    std::shared_ptr<Flight> old;     // still fresh, if the flight is sent ahead of time
  };

  // A query, and the source that is to answer it.
  struct Asked {
    absl::string_view promql;
    rules::SourceChoice choice;
    std::string key;
  };

  Striped<KnownFlights>::Locked FlightsOf(absl::string_view key) const;
  Part Join(absl::string_view key, absl::Duration max_age);
  // Returns what counts the result.
  std::shared_ptr<const void> Fly(const Asked& asked, MonotonicTime deadline, Flight& flight);
  // Keeps a flight that has ended as the current one, or removes it.
  void Land(absl::string_view key, Flight& flight, bool ok, bool reusable);
  // The result of `old` if it is still fresh.
  std::optional<FreshResult> StillFresh(Flight* old);
  void DropStale(KnownFlights& flights, MonotonicTime now);
  // Drops all flights that are done.
  static void DropDone(KnownFlights& flights);
  void CountBytes(KnownFlights& flights);
  // Keeps all flights together within max_bytes.
  void KeepWithinBytes();
  void Count(QueryOutcome outcome);
  // Counts a query that was sent with that timeout.
  void CountSent(const absl::Status& status, absl::Duration given);

  MetricSource& source_;
  Clock& clock_;
  const FlightOptions options_;
  QueryObserver* const observer_;
  std::atomic<size_t> bytes_ = 0;  // of all flights
  std::atomic<size_t> unanswered_ = 0;
  Striped<KnownFlights> flights_;
};

}  // namespace flyball::adapter
