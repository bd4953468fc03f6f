// Measures the parts of a cold start, from the first held request to its release.
//
// Not thread-safe. An event that is repeated or out of order changes nothing.
#pragma once

#include <optional>
#include <utility>

#include "absl/time/time.h"
#include "scaler/front/notices.h"

namespace flyball::front {

class ColdStartWatch {
 public:
  void Arrived(absl::Time at) { times_ = Times{at, {}, {}, {}}; }
  void Forget() { times_.reset(); }
  void Written(absl::Time at) { Note(&Times::written, at); }
  void PodRan(absl::Time at) { Note(&Times::ran, at); }
  void PodPassed(absl::Time at) { Note(&Times::passed, at); }

  // The parts, at the first release; nullopt for later releases.
  std::optional<ColdStart> Released(absl::Time at) {
    if (!times_.has_value()) return std::nullopt;
    ColdStart parts;
    parts.total = at - times_->arrived;
    absl::Time last = times_->arrived;
    const auto part_until = [&last](std::optional<absl::Time> end) {
      if (!end.has_value() || *end < last) return absl::ZeroDuration();
      return *end - std::exchange(last, *end);
    };
    parts.write = part_until(times_->written);
    parts.pod = part_until(times_->ran);
    parts.probe = part_until(times_->passed);
    parts.ack = part_until(at);
    times_.reset();
    return parts;
  }

 private:
  struct Times {
    absl::Time arrived;
    std::optional<absl::Time> written, ran, passed;
  };
  void Note(std::optional<absl::Time> Times::*time, absl::Time at) {
    if (times_.has_value() && !((*times_).*time).has_value()) (*times_).*time = at;
  }

  std::optional<Times> times_;
};

}  // namespace flyball::front
