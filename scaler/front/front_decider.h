// From the load of one service to the count of pods that it wants: Knative's windows and decider,
// fed once a second from the front, and evaluated by tick.
//
// Pure. Not thread-safe. Time is that of the front, which never jumps: windows only need seconds.
//
// What differs from Knative, where the autoscaler has statistics of pods and activators:
//   - One sample a second, of all requests: nothing is counted twice, so nothing is subtracted.
//   - An evaluation in the middle of a second has the mean of its part so far. Begun requests of a
//     part of a second are not a rate, and wait for its end.
//   - A service that wakes from zero begins with empty windows: 1,000 requests that are held are
//     1,000 in flight, not (1 + 999 + 1000) / 3, nor that after a minute of zeros. The part of a
//     second in which it woke counts as the whole second after it, if that has more: a crowd that
//     comes across the turn of a second is no smaller than another.
//   - Nothing recorded for a stable window is unknown, also with a burst capacity without limit:
//     the Envoys report zero while they have no requests.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "scaler/math/requests/request_decider.h"
#include "scaler/math/requests/request_options.h"
#include "scaler/math/requests/traffic.h"
#include "scaler/spec/request_settings.h"

namespace flyball::front {

class FrontDecider {
 public:
  FrontDecider(const scaler::RequestSettings& settings, const scaler::RequestOptions& options,
               scaler::PodsSeen pods, absl::Time now);

  void Configure(const scaler::RequestSettings& settings, absl::Time now);

  // The windows begin with this second.
  void Wake(absl::Time now);

  // The load of the second that `second` lies in; replaces what was recorded of it before. To be
  // told in the order of seconds. `ended`: it is over.
  void Record(absl::Time second, const scaler::TrafficSample& sample, bool ended);

  scaler::RequestDecision Evaluate(absl::Time now, scaler::PodsSeen pods);

  // Of the last evaluation that was valid; -1 before.
  int32_t wanted() const { return decider_.wanted(); }
  int32_t excess_burst() const { return decider_.excess_burst(); }
  bool panicking() const { return decider_.panicking(); }
  const scaler::TrafficAverages& averages() const { return averages_; }

 private:
  scaler::RequestSettings settings_;
  scaler::RequestOptions options_;
  scaler::TrafficWindows windows_;
  scaler::RequestDecider decider_;
  scaler::TrafficAverages averages_;
  std::optional<int64_t> woken_;  // the second of the last wake; the windows begin with it
  double woken_concurrency_ = 0;  // as it counts in the windows
  std::optional<int64_t> second_;
  scaler::TrafficSample recorded_;  // of second_
};

}  // namespace flyball::front
