#include "kube/watch/pod_feed.h"

#include <utility>

namespace flyball::kube {
namespace {

bool IsThere(const WatchedPod& pod, bool running_only) {
  return pod.state == PodState::kRunning || (pod.state == PodState::kNotRunning && !running_only);
}

std::vector<ObjectPtr> ThoseThere(const std::vector<WatchedPod>& pods, bool running_only) {
  std::vector<ObjectPtr> objects;
  objects.reserve(pods.size());
  for (const WatchedPod& pod : pods) {
    if (IsThere(pod, running_only)) objects.push_back(pod.meta);
  }
  return objects;
}

}  // namespace

void PodFeed::Begin(AllPods all_pods) {
  absl::MutexLock lock(&mutex_);
  all_pods_ = std::move(all_pods);
}

void PodFeed::End() {
  absl::MutexLock lock(&mutex_);
  all_pods_ = nullptr;
  listed_ = false;
}

void PodFeed::Listed() {
  absl::MutexLock lock(&mutex_);
  listed_ = true;
  if (followings_.empty()) return;
  const std::vector<WatchedPod> pods = all_pods_();
  for (const Following& each : followings_) {
    each.follower->Replaced(ThoseThere(pods, each.running_only));
  }
}

void PodFeed::Changed(const std::vector<WatchedPod>& pods) {
  absl::MutexLock lock(&mutex_);
  for (const Following& each : followings_) {
    std::vector<ObjectChange> changes;
    changes.reserve(pods.size());
    for (const WatchedPod& pod : pods) {
      changes.push_back({.object = pod.meta, .deleted = !IsThere(pod, each.running_only)});
    }
    each.follower->Changed(std::move(changes));
  }
}

void PodFeed::StatusChanged(const absl::Status& status) {
  absl::MutexLock lock(&mutex_);
  status_ = status;
  for (const Following& each : followings_) each.follower->SourceStatusChanged(status);
}

void PodFeed::Follow(PodFollower& follower, bool running_only) {
  absl::MutexLock lock(&mutex_);
  followings_.push_back({&follower, running_only});
  // Set before the pods are read, so that a change that they do not include yet is reported.
  followed_.store(true, std::memory_order_release);
  if (listed_) follower.Replaced(ThoseThere(all_pods_(), running_only));
  if (!status_.ok()) follower.SourceStatusChanged(status_);
}

void PodFeed::Unfollow(PodFollower& follower) {
  absl::MutexLock lock(&mutex_);
  std::erase_if(followings_, [&](const Following& each) { return each.follower == &follower; });
  followed_.store(!followings_.empty(), std::memory_order_release);
}

}  // namespace flyball::kube
