#include "adapter/queries/query_flights.h"

#include <algorithm>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "adapter/queries/failure_notes.h"

namespace flyball::adapter {
namespace {

// How long before a result goes stale it is asked for anew: as long as the answer may take, but
// only a small part of `freshness`, so that hardly more queries go out.
absl::Duration AskAhead(absl::Duration took, absl::Duration freshness) {
  return std::min(4 * took, freshness / 20);
}

// A query has no zero byte.
std::string KeyOf(absl::string_view promql, rules::SourceChoice choice) {
  if (choice == rules::SourceChoice::kAny) return std::string(promql);
  return absl::StrCat(promql, absl::string_view("\0", 1), static_cast<int>(choice));
}

}  // namespace

size_t BytesOf(const QueryResult& result) {
  size_t bytes = sizeof(QueryResult) + result.samples.size() * sizeof(Sample);
  for (const Sample& sample : result.samples) {
    for (const auto& [name, value] : sample.labels) {
      bytes += sizeof(name) + sizeof(value) + name.size() + value.size();
    }
  }
  return bytes;
}

QueryFlights::QueryFlights(MetricSource& source, Clock& clock, FlightOptions options,
                           QueryObserver* observer)
    : source_(source), clock_(clock), options_(options), observer_(observer) {}

bool QueryFlights::Flight::Joinable(MonotonicTime now, absl::Duration max_age) {
  absl::MutexLock lock(&mutex);
  return !done || (fresh.freshness.HoldsAt(now) && (!status.ok() || now - fresh.sent <= max_age));
}

bool QueryFlights::Flight::Aging(MonotonicTime now) {
  absl::MutexLock lock(&mutex);
  return done && fresh.freshness.IsDueAt(now);
}

size_t QueryFlights::Flight::Bytes() {
  absl::MutexLock lock(&mutex);
  return bytes;
}

Striped<QueryFlights::KnownFlights>::Locked QueryFlights::FlightsOf(absl::string_view key) const {
  return flights_.Lock(absl::HashOf(key));
}

void QueryFlights::Count(QueryOutcome outcome) {
  if (observer_ != nullptr) observer_->OnQuery(outcome);
}

void QueryFlights::CountSent(const absl::Status& status, absl::Duration given) {
  Count(status.ok() ? QueryOutcome::kSent : QueryOutcome::kFailed);
  if (IsOfTheServer(status, given)) {
    ++unanswered_;
  } else if (!absl::IsDeadlineExceeded(status) && unanswered_ != 0) {
    unanswered_ = 0;
  }
}

absl::StatusOr<StandingResult> QueryFlights::Ask(StandingQuery& query, MonotonicTime deadline) {
  const absl::Duration given = deadline - clock_.MonotonicNow();
  absl::StatusOr<StandingResult> result =
      source_.Of(query.choice).Ask(query, clock_.WallNow(), given);
  CountSent(result.status(), given);
  if (result.ok() && observer_ != nullptr) observer_->OnAnswer(result->source);
  if (!result.ok()) {
    absl::Status failure = result.status();
    SetNote(failure, kQueryNote, query.promql);
    return failure;
  }
  return result;
}

absl::StatusOr<FreshResult> QueryFlights::Query(absl::string_view promql, MonotonicTime deadline,
                                                absl::Duration max_age,
                                                rules::SourceChoice choice) {
  const Asked asked = {promql, choice, KeyOf(promql, choice)};
  bool asked_again = false;
  while (true) {
    const auto [flight, lead, old] = Join(asked.key, max_age);
    std::shared_ptr<const void> counted;
    if (lead) counted = Fly(asked, deadline, *flight);

    absl::MutexLock lock(&flight->mutex);
    const bool waited = !flight->done;
    if (!clock_.Await(flight->mutex, absl::Condition(&*flight, &Flight::Done), deadline)) {
      return absl::DeadlineExceededError("an equal query that was already under way took too long");
    }
    if (flight->status.ok()) {
      // It was sent before this caller came, maybe before a sample that the caller knows of.
      if (!lead && waited && !flight->fresh.result->read.AreNewest() &&
          !std::exchange(asked_again, true)) {
        continue;
      }
      if (!lead) Count(waited ? QueryOutcome::kJoined : QueryOutcome::kReused);
      FreshResult fresh = flight->fresh;
      fresh.counted = std::move(counted);
      return fresh;
    }
    if (std::optional<FreshResult> fresh = StillFresh(old.get())) return *std::move(fresh);
    // The caller that asked ran out of time; we did not.
    if (!lead && waited && absl::IsDeadlineExceeded(flight->status) &&
        clock_.MonotonicNow() < deadline) {
      continue;
    }
    return flight->status;
  }
}

std::optional<FreshResult> QueryFlights::StillFresh(Flight* old) {
  if (old == nullptr) return std::nullopt;
  absl::MutexLock lock(&old->mutex);
  FreshResult fresh = old->fresh;
  if (!old->status.ok() || !fresh.freshness.HoldsAt(clock_.MonotonicNow())) return std::nullopt;
  fresh.freshness.refresh_at = fresh.freshness.fresh_until;  // asking ahead was no use
  return fresh;
}

QueryFlights::Part QueryFlights::Join(absl::string_view key, absl::Duration max_age) {
  const MonotonicTime now = clock_.MonotonicNow();
  const auto flights = FlightsOf(key);
  auto found = flights->of.find(key);
  if (found == flights->of.end()) {
    if (flights->of.size() >= options_.max_results / flights_.size()) DropStale(*flights, now);
    found = flights->of.emplace(key, FlightPair()).first;
    found->second.current = std::make_shared<Flight>();
    return {.flight = found->second.current, .lead = true, .old = nullptr};
  }
  FlightPair& known = found->second;
  if (known.current->Joinable(now) && !known.current->Joinable(now, max_age)) {
    // Fresh, but not for this caller; the others still get it.
    if (known.next != nullptr && known.next->Joinable(now, max_age)) {
      return {.flight = known.next, .lead = false, .old = nullptr};
    }
    known.next = std::make_shared<Flight>();
    return {.flight = known.next, .lead = true, .old = nullptr};
  }
  if (known.current->Joinable(now)) {
    if (known.next != nullptr || !known.current->Aging(now)) {
      return {.flight = known.current, .lead = false, .old = nullptr};
    }
    known.next = std::make_shared<Flight>();
    return {.flight = known.next, .lead = true, .old = known.current};
  }
  known.current = std::exchange(known.next, nullptr);
  const bool lead = known.current == nullptr || !known.current->Joinable(now);
  if (lead) known.current = std::make_shared<Flight>();
  return {.flight = known.current, .lead = lead, .old = nullptr};
}

std::shared_ptr<const void> QueryFlights::Fly(const Asked& asked, MonotonicTime deadline,
                                              Flight& flight) {
  // What throws, for want of memory, must not leave others waiting for ever.
  const absl::Cleanup ended = [&] {
    {
      absl::MutexLock lock(&flight.mutex);
      if (flight.done) return;
      flight.status = absl::InternalError("the query was broken off");
      flight.done = true;
    }
    Land(asked.key, flight, /*ok=*/false, /*reusable=*/false);
  };
  const MonotonicTime sent = clock_.MonotonicNow();
  auto result = source_.Of(asked.choice).Query(asked.promql, clock_.WallNow(), deadline - sent);
  const bool ok = result.ok();
  CountSent(result.status(), deadline - sent);
  if (ok && observer_ != nullptr) observer_->OnAnswer((*result)->source);
  std::shared_ptr<const void> counted;
  if (ok) counted = std::move((*result)->counted);
  const MonotonicTime now = clock_.MonotonicNow();
  // A failure for lack of time is the caller's own and never returned to others.
  const absl::Duration error_reuse = absl::IsDeadlineExceeded(result.status())
                                         ? absl::ZeroDuration()
                                         : std::min(options_.error_reuse, options_.freshness);
  const MonotonicTime fresh_until = ok ? sent + options_.freshness : now + error_reuse;
  {
    absl::MutexLock lock(&flight.mutex);
    flight.status = result.status();
    if (!ok) SetNote(flight.status, kQueryNote, asked.promql);
    flight.fresh.sent = sent;
    flight.fresh.took = now - sent;
    flight.fresh.freshness.fresh_until = fresh_until;
    flight.fresh.freshness.refresh_at =
        ok ? fresh_until - AskAhead(now - sent, options_.freshness) : fresh_until;
    if (ok) {
      flight.fresh.result = *std::move(result);
      flight.fresh.freshness.samples = flight.fresh.result->read;
      flight.bytes = BytesOf(*flight.fresh.result);
    }
    flight.done = true;
  }
  Land(asked.key, flight, ok, now < fresh_until);
  if (bytes_ > options_.max_bytes) KeepWithinBytes();
  return counted;
}

void QueryFlights::Land(absl::string_view key, Flight& flight, bool ok, bool reusable) {
  const size_t bytes = reusable ? key.size() + flight.Bytes() : 0;
  const auto flights = FlightsOf(key);
  const auto found = flights->of.find(key);
  if (found == flights->of.end()) return;
  flights->bytes += bytes;
  bytes_ += bytes;
  FlightPair& known = found->second;
  if (known.current.get() == &flight) {
    if (!reusable) flights->of.erase(found);
  } else if (known.next.get() == &flight) {
    // A failure stays beside the old result and counts when that one is stale.
    if (ok && reusable) known.current = known.next;
    if (ok || !reusable) known.next = nullptr;
  }
}

void QueryFlights::DropStale(KnownFlights& flights, MonotonicTime now) {
  absl::erase_if(flights.of, [now](const auto& entry) { return !entry.second.Joinable(now); });
  // All fresh: the limit holds nevertheless.
  if (flights.of.size() >= options_.max_results / flights_.size()) DropDone(flights);
  CountBytes(flights);
}

// Those under way stay; their number is that of requests.
void QueryFlights::DropDone(KnownFlights& flights) {
  absl::erase_if(flights.of, [](const auto& entry) {
    return !entry.second.Joinable(absl::InfiniteDuration());
  });
}

void QueryFlights::CountBytes(KnownFlights& flights) {
  size_t bytes = 0;
  for (const auto& [key, known] : flights.of) bytes += key.size() + known.Bytes();
  bytes_ += bytes - flights.bytes;
  flights.bytes = bytes;
}

void QueryFlights::KeepWithinBytes() {
  Sweep();
  flights_.ForEach([this](KnownFlights& flights) {
    if (bytes_ <= options_.max_bytes) return;
    DropDone(flights);
    CountBytes(flights);
  });
}

void QueryFlights::Sweep() {
  const MonotonicTime now = clock_.MonotonicNow();
  flights_.ForEach([&](KnownFlights& flights) { DropStale(flights, now); });
}

}  // namespace flyball::adapter
