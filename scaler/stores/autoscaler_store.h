// Makes a Managed (managed.h) from each HorizontalPodAutoscaler and Autoscaler (CRD) that the
// watches report, and passes it to a sink, which is the loop.
//
// Thread-safe. A feed is used by the thread of its watch, which also calls the sink.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "kube/watch/object_watch.h"
#include "scaler/stores/managed.h"
#include "scaler/stores/watch_health.h"

namespace flyball::scaler {

class AutoscalerSink {
 public:
  virtual ~AutoscalerSink() = default;
  virtual void OnAutoscaler(ManagedPtr managed) = 0;
  virtual void OnGone(const AutoscalerKey& key) = 0;
};

// Reads one object. `refused` is set in the result if the object is invalid, an HPA with more than
// 256 metrics, or too deep to be read as a whole (its managedFields may be); nullptr: not even the
// name can be read.
ManagedPtr ReadManaged(AutoscalerKind kind, absl::string_view json);

class AutoscalerStore {
 public:
  // Sink and clock outlive the store.
  AutoscalerStore(Clock& clock, AutoscalerSink& sink);
  ~AutoscalerStore();

  // A handler for a watch of that kind in `ns` ("": all), made before the first watch begins.
  kube::WatchHandler& AddFeed(AutoscalerKind kind, const std::string& ns);

  // OK once the first lists of this namespace, or of all, have arrived.
  absl::Status Ready(absl::string_view ns) const;
  absl::Status Ready() const;
  // Whether some first list has neither arrived nor failed.
  bool Waits() const;

  // "" while the watch that covers this autoscaler works; else what is wrong with the watch, and
  // the stored autoscaler may be out of date.
  std::string Failure(const AutoscalerKey& key) const;
  // "" while the autoscaler may be decided; else why not: its kind is no longer defined, and its
  // watch has not worked since. If its watch merely fails, decisions go on, and the API server is
  // asked for the object before each write (steps/act_step.h).
  std::string Unusable(const AutoscalerKey& key) const;

  // Whether some HorizontalPodAutoscaler has had the condition ScaledToZero.
  bool ShowsScaleToZero() const { return shows_scale_to_zero_; }
  // Whether some HorizontalPodAutoscaler has had `minReplicas: 0`.
  bool HasZeroMinimum() const { return has_zero_minimum_; }

 private:
  class Feed;

  const Feed* FeedOf(const AutoscalerKey& key) const;

  Clock& clock_;
  AutoscalerSink& sink_;
  std::vector<std::unique_ptr<Feed>> feeds_;
  std::atomic<bool> shows_scale_to_zero_ = false, has_zero_minimum_ = false;
};

}  // namespace flyball::scaler
