// The pods of one service: which of them take requests, and which are to be probed.
//
// Pure. Not thread-safe. A pod takes requests while it is Ready. To be faster than the kubelet
// after zero, a pod is probed as soon as its container runs, and a passed probe counts until
// Kubernetes has reported it Ready once. A pod takes no more requests as soon as it is being
// deleted.
//
// Kubernetes calls a pod without any probe Ready as soon as its containers run, which is before its
// server listens. So while the first pod is waited for, such a pod has to pass as well; but if
// nothing comes back from it for a second, as behind a NetworkPolicy that lets in the Envoys alone,
// or if it has refused for 15 s, Ready has to do. Of more pods the Envoys try another one.
//
// Pods that exist when the scale becomes zero are about to be deleted ("doomed"), and take no more
// requests. If the scale is raised again before the workload's controller has acted, they stay: a
// pod that is not being deleted 3 s after that write is pardoned.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace flyball::front {

// A pod as Kubernetes shows it.
struct PodView {
  std::string uid;
  std::string address;   // "10.0.0.7:8080", the port that requests go to; empty: not known yet
  bool running = false;  // its containers run
  bool ready = false;
  bool deleting = false;
  // Whether its readiness can be probed from here; not if it has an exec or a startup probe.
  bool probeable = true;
  bool unproven = false;  // it has no probe: Ready says only that it runs
  std::string name = {};
  int64_t restarts = 0;   // of its containers; tells one run from the next
  std::string node = {};  // on which it runs; empty: not known yet
};

enum class ProbeResult { kPassed, kRefused, kSilent };

struct ProbeTarget {
  std::string uid;
  std::string address;
};

// A pod that exists, whether or not it takes requests now.
struct PodPlace {
  std::string uid;
  std::string address;
  bool takes_requests = false;
};

class PodTable {
 public:
  void Set(const std::vector<PodView>& pods, absl::Time now);

  // The scale is zero: all present pods will be deleted.
  void DoomAll();
  // The doomed pods stay.
  void PardonAll();
  // A scale above zero was written.
  void Raised(absl::Time now);
  // Pardons the doomed pods if their 3 s are over. Returns whether there were any.
  bool Advance(absl::Time now);

  // The pods to be probed now, at most `limit`; each counts as being probed until Probed() is
  // called. The next probe is due a period later: 5 ms, and up to 25 ms the more pods are probed,
  // here and (`others`) in other services; or a fiftieth of the time for which the pod has been
  // probed, up to a second, so that one that is never ready is asked once a second.
  std::vector<ProbeTarget> TakeDueProbes(absl::Time now, size_t limit, int64_t others);
  // Returns whether the pod may take requests now that did not before.
  bool Probed(absl::string_view uid, ProbeResult result, absl::Time now);
  // Whether the first pod is waited for. Returns whether that is news.
  bool WaitForFirst(bool waits) { return std::exchange(waits_for_first_, waits) != waits; }

  // By uid.
  std::vector<PodPlace> Places() const;
  // The addresses that take requests, sorted.
  std::vector<std::string> Endpoints() const;
  bool any_running() const;
  // When the next probe is due.
  absl::Time NextProbe() const;
  // When Advance would pardon a pod.
  absl::Time NextPardon() const;

 private:
  struct PodRecord {
    PodView view;
    bool doomed = false;
    bool passed = false;             // it has passed a probe
    bool was_ready = false;          // it was Ready once: from then on only Kubernetes counts
    bool in_vain = false;            // probes tell nothing of it
    std::optional<int64_t> probing;  // while a probe is under way: the restarts when it began
    absl::Time first_probe = absl::InfiniteFuture();
    absl::Time last_answer = absl::InfinitePast();  // to a probe that it did not pass
    absl::Time next_probe = absl::InfinitePast();
  };
  static bool Counts(const PodRecord& pod) { return !pod.doomed && !pod.view.deleting; }
  // Whether it has to pass a probe, whatever Kubernetes says.
  bool HasToPass(const PodRecord& pod) const {
    return waits_for_first_ && pod.view.unproven && !pod.in_vain;
  }
  bool TakesRequests(const PodRecord& pod) const;
  bool IsToBeProbed(const PodRecord& pod) const;

  std::map<std::string, PodRecord, std::less<>> pods_;  // by uid
  std::optional<absl::Time> raised_;                    // while there are doomed ones
  bool waits_for_first_ = false;
};

}  // namespace flyball::front
