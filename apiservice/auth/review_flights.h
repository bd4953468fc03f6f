// Questions to the API server that are under way: equal ones are asked once, and the number of
// requests that wait for an answer is limited, so that an API server that hangs holds no more
// threads than that.
//
// Thread-safe; no threads of its own. An answer is kept for nobody who comes later.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/cleanup/cleanup.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "http/server/event_workers.h"

namespace flyball::apiservice {

template <typename Value>
class ReviewFlights {
 public:
  using Answer = absl::StatusOr<Value>;

  explicit ReviewFlights(int max_waiting) : max_waiting_(max_waiting) {}

  // The answer of `ask`, or of an equal question that is being asked. kResourceExhausted: too many
  // wait already.
  Answer Ask(absl::string_view question, const std::function<Answer()>& ask) {
    std::shared_ptr<Flight> flight;
    bool ours = false;
    {
      absl::MutexLock lock(&mutex_);
      if (waiting_ >= max_waiting_) {
        return absl::ResourceExhaustedError("too many requests wait for the API server");
      }
      ++waiting_;
      std::shared_ptr<Flight>& slot = flights_[question];
      ours = slot == nullptr;
      if (ours) slot = std::make_shared<Flight>();
      flight = slot;
    }
    const http::EventWorkers::Waiting waiting;
    // Also when a library threw.
    const absl::Cleanup end = [&] { End(question, ours ? flight.get() : nullptr); };
    if (ours) {
      flight->answer = ask();
    } else {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(&flight->landed));
    }
    return flight->answer;
  }

  int waiting() const {
    absl::MutexLock lock(&mutex_);
    return waiting_;
  }

 private:
  struct Flight {
    // Written by the one who asks, read by the others once it has landed.
    Answer answer = absl::InternalError("the question could not be asked");
    bool landed = false;  // guarded by mutex_
  };

  // `flight`: nullptr of one who waited for another's.
  void End(absl::string_view question, Flight* flight) {
    absl::MutexLock lock(&mutex_);
    --waiting_;
    if (flight == nullptr) return;
    flight->landed = true;
    flights_.erase(question);
  }

  const int max_waiting_;
  mutable absl::Mutex mutex_;
  int waiting_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<std::string, std::shared_ptr<Flight>> flights_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace flyball::apiservice
