// HorizontalPodAutoscalers and Autoscalers of our own kind, from watches, as Managed.
//
// Thread-safe: each feed belongs to its watch's thread and hands on to the sink.
#pragma once

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

// What one object says. A text that cannot be read gives a Managed that is refused, as long as its
// name can be read; else nullptr.
ManagedPtr ReadManaged(AutoscalerKind kind, absl::string_view json);

class AutoscalerStore {
 public:
  // Sink and clock outlive the store.
  AutoscalerStore(Clock& clock, AutoscalerSink& sink);
  ~AutoscalerStore();

  // A handler for a watch of that kind in `ns` ("": all), made before the first watch begins.
  kube::WatchHandler& AddFeed(AutoscalerKind kind, const std::string& ns);

  absl::Status Ready() const;

  // "" while the watch that tells of this autoscaler works; else what is wrong with it: what is
  // known of it may be out of date.
  std::string Failure(const AutoscalerKey& key) const;
  // "" while what was told of it may be decided on; else why not: its definition is gone. While a
  // watch only fails, decisions go on, and whoever writes has to ask for the object before.
  std::string Unusable(const AutoscalerKey& key) const;

 private:
  class Feed;

  const Feed* FeedOf(const AutoscalerKey& key) const;

  Clock& clock_;
  AutoscalerSink& sink_;
  std::vector<std::unique_ptr<Feed>> feeds_;
};

}  // namespace flyball::scaler
