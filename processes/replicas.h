// The processes of one ProcessSet: started, checked, restarted and ended as its spec asks.
//
// Not thread-safe, without a thread or clock of its own: the owner calls Step whenever one of the
// file descriptors of AddPolled is ready or the time that Step answered has come. All calls come
// from the thread that outlives the processes (process.h).
//
// There are never more processes than replicas are wanted, those included that are being ended: a
// new one is begun when an old one is gone. The ones with the highest index go first. One that ends
// by itself is begun again after 250 ms, twice as long each time up to a minute; an hour of quiet
// life is not asked for: ten minutes of running begin anew. Where the spec changes otherwise than
// in the count, all are ended and begun anew, as their places become free.
#pragma once

#include <poll.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/clock.h"
#include "processes/probe.h"
#include "processes/process.h"
#include "processes/process_set_spec.h"

namespace flyball::processes {

// What one replica is doing, as its pod shows it.
struct ReplicaView {
  int32_t index = 0;
  uint64_t incarnation = 0;  // another one for each time that the replica was wanted anew
  pid_t pid = 0;             // 0: it does not run, but is to be begun again
  bool ready = false;
  bool ending = false;
  int32_t restarts = 0;
  absl::Time started;        // when this replica was begun first
  absl::Time ready_changed;  // when `ready` became what it is
  std::string problem;       // why it does not run

  friend bool operator==(const ReplicaView&, const ReplicaView&) = default;
};

class Replicas {
 public:
  explicit Replicas(ProcessSetSpec spec);
  ~Replicas();  // ends all at once
  Replicas(Replicas&&) = default;

  const ProcessSetSpec& spec() const { return spec_; }
  // What is to be from now on; `spec.replicas` is how many. The name stays.
  void Want(const ProcessSetSpec& spec);

  // Does all that is to be done now; the time at which there is more.
  MonotonicTime Step(MonotonicTime now, absl::Time wall);
  // What the next step waits for.
  void AddPolled(std::vector<pollfd>& polled) const;

  std::vector<ReplicaView> View() const;  // by index
  bool empty() const { return replicas_.empty(); }

 private:
  struct Replica {
    ReplicaView view;
    ProcessSetSpec spec;  // that it was begun with
    std::unique_ptr<Process> process;
    std::unique_ptr<Probe> probe;
    MonotonicTime begun = absl::ZeroDuration();        // the process
    MonotonicTime begin_at = absl::ZeroDuration();     // when there is none
    MonotonicTime probe_at = absl::ZeroDuration();     // the next probe, or the end of this one
    MonotonicTime kill_at = absl::InfiniteDuration();  // when it is being ended
    absl::Duration pause = absl::ZeroDuration();       // before the last begin
  };

  void EndUnwanted(MonotonicTime now);
  void BeginMissing(MonotonicTime now, absl::Time wall);
  void Begin(Replica& replica, MonotonicTime now);
  void Check(Replica& replica, MonotonicTime now, absl::Time wall);
  // True once it is gone for good.
  bool Follow(Replica& replica, MonotonicTime now, absl::Time wall);
  static MonotonicTime NextTime(const Replica& replica);

  ProcessSetSpec spec_;
  std::map<int32_t, Replica> replicas_;
  uint64_t incarnations_ = 0;
};

}  // namespace flyball::processes
