// Makes one call for all callers that ask the same question at the same time.
//
// Thread-safe; no threads of its own: the first caller with a key makes the call, and the others
// wait for its answer, whatever it is, each until its own deadline. The answer is not kept for
// later callers. Limit: `max_askers` at once, over all keys. Those that ask on behalf of one client
// (`who`) get no more places than are left, so that n such clients that ask all the time get n/(n +
// 1) of them.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/cleanup/cleanup.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"

namespace flyball {

struct NothingMeanwhile {};

// Each waiting thread holds an object of type Meanwhile.
template <typename Value, typename Meanwhile = NothingMeanwhile>
class SingleFlight {
 public:
  using Answer = absl::StatusOr<Value>;

  // `what` names the question in errors: "list". The clock outlives it.
  SingleFlight(Clock& clock, std::string what, int max_askers = std::numeric_limits<int>::max())
      : clock_(clock), what_(std::move(what)), max_askers_(max_askers) {}

  // The answer of `ask`, or of an equal question that is being asked. A caller without a deadline
  // waits for as long as that takes. `who`: the client that it asks for; "": one without that
  // limit.
  //   kResourceExhausted  too many ask already, in all or for `who`
  //   kDeadlineExceeded   another asker's call is not back in time
  Answer Ask(absl::string_view key, MonotonicTime deadline, absl::FunctionRef<Answer()> ask,
             absl::string_view who = "") {
    std::shared_ptr<Flight> flight;
    bool ours = false;
    {
      absl::MutexLock lock(&mutex_);
      if (!HasRoomFor(who)) {
        return absl::ResourceExhaustedError(absl::StrCat("too many requests wait for a ", what_));
      }
      ++askers_;
      if (!who.empty()) ++places_[who];
      std::shared_ptr<Flight>& known = flights_[key];
      ours = known == nullptr;
      if (ours) known = std::make_shared<Flight>();
      flight = known;
    }
    [[maybe_unused]] const Meanwhile meanwhile{};
    // Also if a library threw.
    const absl::Cleanup end = [&] { End(key, who, ours ? flight.get() : nullptr); };
    if (ours) {
      flight->answer = ask();
      return flight->answer;
    }
    absl::MutexLock lock(&mutex_);
    if (!clock_.Await(mutex_, absl::Condition(&flight->landed), deadline)) {
      return absl::DeadlineExceededError(
          absl::StrCat("another request's ", what_, " has not been answered yet"));
    }
    return flight->answer;
  }

  int askers() const {
    absl::MutexLock lock(&mutex_);
    return askers_;
  }

 private:
  struct Flight {
    // Written by the caller that asks, read by the others once it has landed.
    Answer answer = absl::InternalError("the question could not be asked");
    bool landed = false;  // guarded by mutex_
  };

  bool HasRoomFor(absl::string_view who) const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    const int left = max_askers_ - askers_;
    const auto places = places_.find(who);
    return left > 0 && (places == places_.end() || places->second < left);
  }

  // `flight`: nullptr for a caller that waited for another one's flight.
  void End(absl::string_view key, absl::string_view who, Flight* flight) {
    absl::MutexLock lock(&mutex_);
    --askers_;
    if (const auto places = places_.find(who); places != places_.end() && --places->second == 0) {
      places_.erase(places);
    }
    if (flight == nullptr) return;
    flight->landed = true;
    flights_.erase(key);
  }

  Clock& clock_;
  const std::string what_;
  const int max_askers_;
  mutable absl::Mutex mutex_;
  int askers_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<std::string, int> places_ ABSL_GUARDED_BY(mutex_);  // of clients with places
  absl::flat_hash_map<std::string, std::shared_ptr<Flight>> flights_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace flyball
