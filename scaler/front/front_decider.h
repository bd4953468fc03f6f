// Computes the count of pods that one service needs for its load, with Knative's windows and
// decider, fed once a second by the front and evaluated at each tick.
//
// Pure. Not thread-safe. Time is that of the front, which never jumps.
//
// Differences from Knative, whose autoscaler has statistics of pods and activators:
//   - One sample a second, of all requests: nothing is counted twice, so nothing is subtracted.
//   - An evaluation in the middle of a second uses the mean of its part so far. The requests begun
//     in a part of a second are not a rate, and count only at its end.
//   - A service that wakes from zero begins with empty windows: 1,000 requests that are held are
//     1,000 in flight, not (1 + 999 + 1000) / 3, nor a mean with a minute of zeros. The part of a
//     second in which it woke counts like the whole second after it, if that has more, so that a
//     crowd that arrives across the turn of a second does not count less.
//   - If nothing was recorded for 5 s the load is unknown, even with an unlimited burst capacity,
//     since the Envoys report zero while they have no requests. Older seconds alone would give a
//     falling load, and in the end none. After such a gap the windows begin anew, since they would
//     count it as seconds without load.
//   - A change of the scale-down delay, or of whether averages are weighted, counts at once.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "scaler/math/requests/request_decider.h"
#include "scaler/math/requests/traffic.h"
#include "scaler/spec/request_settings.h"

namespace flyball::front {

class FrontDecider {
 public:
  FrontDecider(const scaler::RequestSettings& settings, scaler::PodsSeen pods, absl::Time now);

  void Configure(const scaler::RequestSettings& settings, absl::Time now);

  // Makes the windows begin with this second.
  void Wake(absl::Time now);

  // Records the load of the second that contains `second`, replacing what was recorded of it
  // before. Seconds come in order. `ended`: the second is over.
  void Record(absl::Time second, const scaler::TrafficSample& sample, bool ended);

  scaler::RequestDecision Evaluate(absl::Time now, scaler::PodsSeen pods);

  // The result of the last valid evaluation; -1 before the first one.
  int32_t wanted() const { return decider_.wanted(); }
  const scaler::TrafficAverages& averages() const { return averages_; }

 private:
  scaler::RequestSettings settings_;
  scaler::TrafficWindows windows_;
  scaler::RequestDecider decider_;
  scaler::TrafficAverages averages_;
  std::optional<int64_t> woken_;  // the second of the last wake; the windows begin with it
  double woken_concurrency_ = 0;  // as counted in the windows
  std::optional<int64_t> second_;
  scaler::TrafficSample recorded_;  // for second_
};

}  // namespace flyball::front
