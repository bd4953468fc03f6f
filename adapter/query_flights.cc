#include "adapter/query_flights.h"

#include <algorithm>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/status/status.h"

namespace flyball::adapter {

QueryFlights::QueryFlights(MetricSource& source, Clock& clock, FlightOptions options,
                           AdapterMetrics* metrics)
    : source_(source), clock_(clock), options_(options), metrics_(metrics) {}

bool QueryFlights::Flight::Joinable(MonotonicTime now) {
  absl::MutexLock lock(&mutex);
  return !done || now < fresh.fresh_until;
}

QueryFlights::Shard& QueryFlights::ShardOf(absl::string_view promql) {
  return shards_[absl::Hash<absl::string_view>()(promql) % kShards];
}

void QueryFlights::Count(QueryOutcome outcome) {
  if (metrics_ != nullptr) metrics_->OnQuery(outcome);
}

absl::StatusOr<FreshResult> QueryFlights::Query(absl::string_view promql, MonotonicTime deadline) {
  while (true) {
    bool lead = false;
    const std::shared_ptr<Flight> flight = Join(promql, lead);
    if (lead) Fly(promql, deadline, *flight);

    absl::MutexLock lock(&flight->mutex);
    const bool waited = !flight->done;
    const absl::Duration left = deadline - clock_.MonotonicNow();
    if (!flight->mutex.AwaitWithTimeout(absl::Condition(&*flight, &Flight::Done), left)) {
      return absl::DeadlineExceededError("an equal query under way took too long");
    }
    if (flight->status.ok()) {
      if (!lead) Count(waited ? QueryOutcome::kJoined : QueryOutcome::kReused);
      return flight->fresh;
    }
    // The time of the caller that asked was over, not ours.
    if (!lead && waited && absl::IsDeadlineExceeded(flight->status) &&
        clock_.MonotonicNow() < deadline) {
      continue;
    }
    return flight->status;
  }
}

std::shared_ptr<QueryFlights::Flight> QueryFlights::Join(absl::string_view promql, bool& lead) {
  Shard& shard = ShardOf(promql);
  const MonotonicTime now = clock_.MonotonicNow();
  absl::MutexLock lock(&shard.mutex);
  auto found = shard.flights.find(promql);
  if (found != shard.flights.end() && found->second->Joinable(now)) return found->second;
  lead = true;
  auto flight = std::make_shared<Flight>();
  if (found != shard.flights.end()) {
    found->second = flight;
    return flight;
  }
  if (shard.flights.size() >= options_.max_results / kShards) DropStale(shard, now);
  shard.flights.emplace(promql, flight);
  return flight;
}

void QueryFlights::Fly(absl::string_view promql, MonotonicTime deadline, Flight& flight) {
  const MonotonicTime sent = clock_.MonotonicNow();
  absl::StatusOr<std::shared_ptr<const QueryResult>> result =
      source_.Query(promql, clock_.WallNow(), deadline - sent);
  Count(result.ok() ? QueryOutcome::kSent : QueryOutcome::kFailed);
  const MonotonicTime now = clock_.MonotonicNow();
  // A failure for want of time is the caller's own and never given again.
  const absl::Duration error_reuse = absl::IsDeadlineExceeded(result.status())
                                         ? absl::ZeroDuration()
                                         : std::min(options_.error_reuse, options_.freshness);
  const MonotonicTime fresh_until = result.ok() ? sent + options_.freshness : now + error_reuse;
  {
    absl::MutexLock lock(&flight.mutex);
    flight.status = result.status();
    flight.fresh.fresh_until = fresh_until;
    if (result.ok()) flight.fresh.result = *std::move(result);
    flight.done = true;
  }
  if (now < fresh_until) return;
  Shard& shard = ShardOf(promql);
  absl::MutexLock lock(&shard.mutex);
  const auto found = shard.flights.find(promql);
  if (found != shard.flights.end() && found->second.get() == &flight) shard.flights.erase(found);
}

void QueryFlights::DropStale(Shard& shard, MonotonicTime now) {
  absl::erase_if(shard.flights, [now](const auto& entry) { return !entry.second->Joinable(now); });
  // All fresh: the limit holds nevertheless. Those under way stay; their number is that of
  // requests.
  if (shard.flights.size() >= options_.max_results / kShards) {
    absl::erase_if(shard.flights, [](const auto& entry) {
      return !entry.second->Joinable(absl::InfiniteDuration());
    });
  }
}

void QueryFlights::Sweep() {
  const MonotonicTime now = clock_.MonotonicNow();
  for (Shard& shard : shards_) {
    absl::MutexLock lock(&shard.mutex);
    DropStale(shard, now);
  }
}

}  // namespace flyball::adapter
