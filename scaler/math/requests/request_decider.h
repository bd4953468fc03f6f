// How many pods the requests of one target need, and whether these pods could take a burst.
//
// Pure: time, pods and averages are arguments. Not thread-safe; one object for each target. This is
// a second kind of math beside the replica math (hpa/hpa_decider.h), but not a Decider: it is
// evaluated at each tick and poke and remembers things between evaluations, where a Decider is a
// function of one DecisionInput, whose readings, scale and status do not exist here. The count that
// it wants becomes a proposal like any other: bounds and scaling to zero are applied to it
// afterwards (revision.h).
//
// Units:   counts are int32 pods; averages, target and total are in the metric's unit.
// Source:  Knative Serving v0.51.0 pkg/autoscaler/scaling (autoscaler.go, multiscaler.go). Every
//          number is the original's.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "scaler/math/requests/recent_maximum.h"
#include "scaler/math/requests/traffic.h"
#include "scaler/spec/request_settings.h"

namespace flyball::scaler {

// How often a target is evaluated. Each slot of the scale-down delay is one tick wide.
inline constexpr absl::Duration kRequestTick = absl::Seconds(2);

struct PodsSeen {
  std::optional<int32_t> ready;  // nullopt: they cannot be counted
};

struct RequestDecision {
  bool valid = false;  // false: pods or averages are unknown, nothing changed and the rest is 0
  int32_t wanted = 0;
  int32_t excess_burst = 0;  // requests in flight beyond the reserved burst that pods could take
  bool told = false;         // `wanted` or the sign of excess_burst has changed
};

class RequestDecider {
 public:
  // A target that has more than one pod starts in panic, so that it is not shrunk for a stable
  // window because of history that does not exist yet.
  RequestDecider(const RequestSettings& settings, PodsSeen pods, absl::Time now);

  // Replaces the settings, except for the scale-down delay, which stays as it is.
  void Configure(const RequestSettings& settings) { settings_ = settings; }
  // Changes the scale-down delay. What was wanted last counts as wanted now.
  void SetDelay(absl::Duration delay, absl::Time now);

  RequestDecision Evaluate(absl::Time now, PodsSeen pods, const TrafficAverages& averages);

  // Whether a report of that many requests in flight calls for an evaluation at once.
  bool Pokes(double concurrency) const { return wanted_ == 0 && concurrency != 0; }

  int32_t wanted() const { return wanted_; }  // -1 before the first evaluation
  int32_t excess_burst() const { return excess_burst_; }
  bool panicking() const { return panic_since_.has_value(); }
  int32_t panic_maximum() const { return panic_maximum_; }

 private:
  // The pods that one average asks for.
  struct Demand {
    double pods = 0;    // before the limits on the rate of change
    int32_t count = 0;  // after them
  };
  Demand DemandOf(double average, double ready) const;
  void FollowPanic(absl::Time now, bool over_threshold);
  int32_t ExcessBurst(int32_t ready, double panic_average) const;

  RequestSettings settings_;
  std::optional<absl::Time> panic_since_;  // the last time that the threshold was crossed
  int32_t panic_maximum_ = 0;
  std::optional<RecentMaximum> delayed_;
  int32_t wanted_ = -1;
  int32_t excess_burst_ = 0;
};

}  // namespace flyball::scaler
