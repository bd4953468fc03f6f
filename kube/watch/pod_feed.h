// Passes on the pods of a cluster from a source that watches all pods, so that caches of their
// names and labels need no list and watch of their own.
//
// Thread-safe. There is one source at a time; a follower gets all pods that the source knows, then
// each change. No pod is kept here, and while nobody follows, the source need not report changes.
// Followers are called one at a time, by the source's thread or within Follow, and must not call
// back.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "kube/objects/object_directory.h"
#include "kube/objects/object_table.h"

namespace flyball::kube {

enum class PodState : uint8_t { kRunning, kNotRunning, kGone };  // status.phase=Running, or not

struct WatchedPod {
  ObjectPtr meta;
  PodState state = PodState::kNotRunning;
};

class PodFollower {
 public:
  virtual ~PodFollower() = default;
  // All present pods, in any order.
  virtual void Replaced(std::vector<ObjectPtr> objects) = 0;
  // Changes in their order. A pod that is reported again, or the end of an unknown pod, is no
  // change.
  virtual void Changed(std::vector<ObjectChange> changes) = 0;
  // Like WatchHandler::StatusChanged, for the source's watch.
  virtual void SourceStatusChanged(const absl::Status& status) = 0;
};

class PodFeed {
 public:
  using AllPods = std::function<std::vector<WatchedPod>()>;

  // Called by the source. `all_pods` returns them on any thread until End has returned, and must
  // already include whatever is passed to Changed.
  void Begin(AllPods all_pods);
  void End();
  // The pods have been listed: `all_pods` now returns all there are.
  void Listed();
  // False: there is no follower. To be asked only when `all_pods` already includes the change.
  bool followed() const { return followed_.load(std::memory_order_acquire); }
  void Changed(const std::vector<WatchedPod>& pods);
  void StatusChanged(const absl::Status& status);

  // The follower lives until Unfollow. Before the source's first list it gets only failures.
  // `running_only`: for this follower, pods that are not running do not exist.
  void Follow(PodFollower& follower, bool running_only);
  void Unfollow(PodFollower& follower);

 private:
  struct Following {
    PodFollower* follower = nullptr;
    bool running_only = false;
  };

  absl::Mutex mutex_;  // held while followers are called
  AllPods all_pods_ ABSL_GUARDED_BY(mutex_);
  bool listed_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  std::vector<Following> followings_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> followed_ = false;
};

}  // namespace flyball::kube
