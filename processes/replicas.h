// Starts, checks, restarts and ends the processes of one ProcessSet as its spec asks.
//
// Not thread-safe. It has no thread and no clock: the owner calls Step whenever one of the file
// descriptors of AddPolled is ready or the time that Step returned has come. All calls must come
// from one thread, which outlives the processes (process.h).
//
// There are never more processes than replicas, including those that are being ended: a new one is
// started when an old one has ended. The ones with the highest index are ended first. One that ends
// by itself is started again after 250 ms, and after twice that pause each further time, up to a
// minute; after ten minutes of running the pause is 250 ms again. If anything but the count changes
// in the spec, all processes are ended and replaced, each as soon as its old one has ended.
#pragma once

#include <poll.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/clock.h"
#include "http/client/readiness_probe.h"
#include "processes/process.h"
#include "processes/process_set_spec.h"

namespace flyball::processes {

// The state of one replica, as its pod shows it.
struct ReplicaView {
  int32_t index = 0;
  uint64_t incarnation = 0;  // changes whenever the replica is recreated, but not at a restart
  pid_t pid = 0;             // 0: not running, will be started again
  bool ready = false;
  bool ending = false;
  int32_t restarts = 0;
  absl::Time started;        // when this replica was first started
  absl::Time ready_changed;  // when `ready` changed last
  std::string problem;       // why it does not run

  friend bool operator==(const ReplicaView&, const ReplicaView&) = default;
};

class Replicas {
 public:
  explicit Replicas(ProcessSetSpec spec);
  ~Replicas();  // kills all processes
  Replicas(Replicas&&) = default;

  const ProcessSetSpec& spec() const { return spec_; }
  // Replaces the spec, including the count. The name must not change.
  void Want(const ProcessSetSpec& spec);

  // Does all that is due now. Returns the time at which more is due.
  MonotonicTime Step(MonotonicTime now, absl::Time wall);
  // Adds the file descriptors that the next step waits for.
  void AddPolled(std::vector<pollfd>& polled) const;

  std::vector<ReplicaView> View() const;  // sorted by index
  bool empty() const { return replicas_.empty(); }

 private:
  struct Replica {
    ReplicaView view;
    ProcessSetSpec spec;  // the one it was started with
    std::unique_ptr<Process> process;
    std::unique_ptr<http::ReadinessProbe> probe;
    MonotonicTime begun = absl::ZeroDuration();        // when the process was started
    MonotonicTime begin_at = absl::ZeroDuration();     // without a process: when to start one
    MonotonicTime probe_at = absl::ZeroDuration();     // next probe, or the deadline of this one
    MonotonicTime kill_at = absl::InfiniteDuration();  // for SIGKILL, if it is being ended
    absl::Duration pause = absl::ZeroDuration();       // before the last start
  };

  void EndUnwanted(MonotonicTime now);
  void BeginMissing(MonotonicTime now, absl::Time wall);
  void Begin(Replica& replica, MonotonicTime now);
  void Check(Replica& replica, MonotonicTime now, absl::Time wall);
  // True once it has ended and will not be started again.
  bool Follow(Replica& replica, MonotonicTime now, absl::Time wall);
  static MonotonicTime NextTime(const Replica& replica);

  ProcessSetSpec spec_;
  std::map<int32_t, Replica> replicas_;
  uint64_t incarnations_ = 0;
};

}  // namespace flyball::processes
