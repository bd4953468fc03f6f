// The target of a scale, without Kubernetes: pods come and go some time after the scale was
// written. For tests alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "scaler/front/pod_table.h"

namespace flyball::front {

class SimulatedTarget {
 public:
  struct Pod {
    PodView view;
    bool answers = false;      // the program in it is ready
    bool written_off = false;  // zero was written, and the controller has not acted since
    absl::Time runs_at, answers_at, ready_at;
    absl::Time deleted_at = absl::InfiniteFuture();
    absl::Time gone_at = absl::InfiniteFuture();
  };

  // `slow`: pods that are created from now on never become ready.
  bool slow = false;
  int32_t replicas = 0;
  std::vector<Pod> pods;
  std::set<std::string> condemned;  // addresses of pods that were removed because of zero

  // Writes the scale; its controller acts some time later, on the count at that time.
  void Write(int32_t count, absl::Time now, std::mt19937& random) {
    replicas = count;
    for (Pod& pod : pods) pod.written_off |= count == 0;
    look_at_ = std::min(look_at_, now + absl::Milliseconds(random() % 1500));
  }

  // Returns whether anything visible has changed.
  bool Advance(absl::Time now, std::mt19937& random) {
    bool changed = false;
    if (now >= look_at_) {
      look_at_ = absl::InfiniteFuture();
      changed |= Look(now, random);
    }
    for (Pod& pod : pods) {
      if (!pod.view.running && now >= pod.runs_at) {
        pod.view.running = changed = true;
        pod.view.address = absl::StrCat("10.0.0.", ++addresses_, ":8080");
      }
      if (!pod.answers && now >= pod.answers_at) pod.answers = true;
      if (!pod.view.ready && now >= pod.ready_at) pod.view.ready = changed = true;
      if (!pod.view.deleting && now >= pod.deleted_at) pod.view.deleting = changed = true;
    }
    changed |= std::erase_if(pods, [&](const Pod& pod) { return now >= pod.gone_at; }) > 0;
    return changed;
  }

  // A node is lost with its pod, although nobody asked the pod to end.
  bool Lose(std::mt19937& random, absl::Time now) {
    if (pods.empty()) return false;
    pods.erase(pods.begin() + static_cast<int64_t>(random() % pods.size()));
    look_at_ = std::min(look_at_, now + absl::Milliseconds(100));
    return true;
  }

  std::vector<PodView> Views() const {
    std::vector<PodView> views;
    for (const Pod& pod : pods) views.push_back(pod.view);
    return views;
  }
  const Pod* At(const std::string& address) const {
    for (const Pod& pod : pods) {
      if (pod.view.address == address) return &pod;
    }
    return nullptr;
  }
  const Pod* Named(const std::string& uid) const {
    for (const Pod& pod : pods) {
      if (pod.view.uid == uid) return &pod;
    }
    return nullptr;
  }

 private:
  bool Look(absl::Time now, std::mt19937& random) {
    int32_t living = 0;
    bool changed = false;
    for (Pod& pod : pods) {
      if (pod.deleted_at < absl::InfiniteFuture()) continue;
      if (++living <= replicas) {
        pod.written_off = false;
        continue;
      }
      pod.deleted_at = now;
      if (replicas == 0) condemned.insert(pod.view.address);
      pod.gone_at = now + absl::Milliseconds(200 + random() % 3000);
      changed = true;
    }
    for (; living < replicas; ++living) {
      Pod pod;
      pod.view.uid = absl::StrCat("pod-", ++uids_);
      pod.view.probeable = random() % 4 != 0;
      pod.runs_at = now + absl::Milliseconds(random() % 2000);
      pod.answers_at = pod.runs_at + absl::Milliseconds(random() % 3000);
      pod.ready_at = pod.answers_at + absl::Milliseconds(random() % 3000);
      if (slow) pod.answers_at = pod.ready_at = absl::InfiniteFuture();
      pods.push_back(pod);
      changed = true;
    }
    return changed;
  }

  int64_t uids_ = 0;
  int64_t addresses_ = 0;
  absl::Time look_at_ = absl::InfiniteFuture();
};

}  // namespace flyball::front
