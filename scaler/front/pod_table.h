// The pods of one service: which of them take requests, and which are to be probed.
//
// Pure. Not thread-safe. A pod takes requests while it is Ready. The first one after zero is not
// waited for: as soon as its container runs it is probed, and a pass counts, until Kubernetes has
// called it Ready once. A pod leaves as soon as it is being deleted.
//
// Pods that are there when the scale becomes zero are about to be deleted, and take no requests any
// more. A scale that is raised again before its controller has looked keeps them: who is not being
// deleted 3 s after that was written stays.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace flyball::front {

// As Kubernetes shows it.
struct PodView {
  std::string uid;
  std::string address;   // "10.0.0.7:8080", the port that requests go to; empty: not known yet
  bool running = false;  // its container runs
  bool ready = false;
  bool deleting = false;
  // Its readiness can be asked for from here: not with an exec or a startup probe.
  bool probeable = true;
};

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

  // The scale is zero: all that are there will go.
  void DoomAll();
  // They stay after all.
  void PardonAll();
  // The scale was written to be above zero.
  void Raised(absl::Time now);
  // Pardons those whose time is over; whether there were any.
  bool Advance(absl::Time now);

  // The pods to be probed now, at most so many; each is probed until Probed() tells the result.
  // Those beyond that are due a period later: 5 ms, and up to 25 ms the more are probed beside
  // them, here and in so many `others` services.
  std::vector<ProbeTarget> TakeDueProbes(absl::Time now, size_t limit, int64_t others);
  void Probed(absl::string_view uid, bool passed);

  // By uid.
  std::vector<PodPlace> Places() const;
  // The addresses that take requests, sorted.
  std::vector<std::string> Endpoints() const;
  // Pods that may take requests later.
  int32_t pending() const;
  bool any_running() const;
  // When the next probe is due.
  absl::Time NextProbe() const;
  // When Advance would pardon somebody.
  absl::Time NextPardon() const;

 private:
  struct PodRecord {
    PodView view;
    bool doomed = false;
    bool passed = false;     // a probe did
    bool was_ready = false;  // from then on Kubernetes alone is believed
    bool probing = false;
    absl::Time next_probe = absl::InfinitePast();
  };
  static bool Counts(const PodRecord& pod) { return !pod.doomed && !pod.view.deleting; }
  static bool TakesRequests(const PodRecord& pod);
  static bool IsToBeProbed(const PodRecord& pod);

  std::map<std::string, PodRecord, std::less<>> pods_;  // by uid
  std::optional<absl::Time> raised_;                    // while there are doomed ones
};

}  // namespace flyball::front
