// One replica of the program in simulated time: loop, election, remembered state, and its
// connections to a simulated cluster, which can be slow, lossy and broken. For tests.
//
// It is made of the same parts as the program; only threads, watches and sockets are replaced.
//
// Not thread-safe: one task uses it at a time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "adapter/testing/fakes.h"
#include "base/clock.h"
#include "kube/client/api_client.h"
#include "kube/client/event_recorder.h"
#include "kube/client/request_budget.h"
#include "kube/watch/object_watch.h"
#include "scaler/loop/loop_wiring.h"
#include "scaler/shards/election.h"
#include "scaler/shards/lease_store.h"
#include "scaler/shards/state_store.h"
#include "scaler/stores/stall_detector.h"
#include "scaler/testing/simulated_cluster.h"
#include "scaler/testing/simulated_time.h"
#include "scaler/views/decision_record.h"

namespace flyball::scaler {

class Judge;

// Faults of calls on their way, as fractions of all calls, from 0 to 1.
struct SimulatedNetwork {
  double slow = 0;  // one-way trips that take up to `slow_delay`
  absl::Duration slow_delay = absl::Seconds(3);
  double refused = 0;    // calls without effect
  double lost = 0;       // calls that have their effect, but whose answer is lost
  double repeated = 0;   // calls that are sent again after their answer was lost
  double throttled = 0;  // calls to the API server that it answers with 429
  // How many of the next calls get a wrong answer: first calls that have their effect although the
  // answer is "internal error, try again", then calls that are forbidden, as by an API server that
  // has not read its roles yet.
  int failing_late = 0;
  int forbidden = 0;
};

// A source of random numbers: the same seed gives the same course.
class Chance {
 public:
  explicit Chance(uint32_t seed) : random_(seed) {}
  int Between(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<uint64_t>(high - low + 1));
  }
  bool Is(double probability) {
    return probability > 0 &&
           static_cast<double>(random_()) < probability * static_cast<double>(random_.max());
  }
  absl::Duration UpTo(absl::Duration most) { return most * (Between(0, 1000) / 1000.0); }

 private:
  std::minstd_rand random_;
};

using SimulatedLeases = std::map<std::string, kube::Lease, std::less<>>;

// What all replicas of one simulation share; outlives them.
struct SimulatedWorld {
  SimulatedTime& time;
  SimulatedCluster& cluster;
  SimulatedLeases& leases;
  Chance& chance;
  adapter::FakeDirectory& directory;
};

class SimulatedReplica {
 public:
  struct Options {
    int index = 0;
    ElectionOptions election;  // `identity` is set by the replica
    ScalerOptions scaler;
    absl::Duration state_interval = absl::Seconds(15);
    Judge* judge = nullptr;  // gets the replica's decisions while it lives
  };

  SimulatedReplica(const SimulatedWorld& world, Options options);
  ~SimulatedReplica();  // no task of it may be asleep

  void Start();
  // Ends it like kill -9.
  void Kill() { killed_ = true; }
  // Ends it in order, as SIGTERM ends the program. Takes simulated time.
  void Stop();
  // Stops all of its threads, like SIGSTOP or the migration of a machine. Calls that it has sent
  // continue, and their answers wait for it.
  void Freeze();
  // Ends the freeze: the threads go on in any order, among them those of the watches, which report
  // first what has arrived.
  void Thaw();
  bool alive() const { return !killed_ && !ended_; }
  bool stays() const { return alive() && !stopping_; }

  bool MayWrite(const AutoscalerKey& key) const;
  bool Owns(const AutoscalerKey& key) const { return election_.Owns(key); }
  SimulatedNetwork network;  // to the API server
  SimulatedNetwork metrics_network;
  // Selects calls to the API server that have no effect; empty: the network decides.
  std::function<bool(const http::HttpCall&)> refuses;
  absl::Duration longest_queue;  // the longest time that work waits for a thread
  // Called while the replica forgets that autoscaler.
  std::function<void(const AutoscalerKey&)> on_forgotten;

  // Moves its wall clock.
  void JumpWall(absl::Duration by) { clock_.wall_skew += by; }
  absl::Duration wall_skew() const { return clock_.wall_skew; }
  absl::Time WallNow() const { return clock_.WallNow(); }
  absl::Duration SimulatedTimeAt(MonotonicTime at) const { return at - clock_.offset; }

  // Makes the watch of that resource ("pods", "horizontalpodautoscalers") fail from now on...
  void BreakWatch(absl::string_view resource, const absl::Status& why);
  // ...until this is called: then it is open again and continues where it was, or with a new list.
  // What it has missed it reports bit by bit, without a pause of a second.
  void HealWatch(absl::string_view resource, bool list_anew);
  // Ends the stream of that watch without an error. For `duration` the server opens no other one.
  void CloseWatch(absl::string_view resource, absl::Duration duration);
  // Makes that watch report an object that is in no cluster, or not in this one.
  void Tell(absl::string_view resource, absl::string_view json);
  // While its watch is broken: makes a list of that resource break off after that many objects.
  void ListInPart(absl::string_view resource, size_t objects);
  bool WatchIsBroken(absl::string_view resource) const;
  // To be called when the cluster has changed: the watches report it soon, or before PumpNow
  // returns.
  void PumpWatches();
  void PumpNow();

  // A scale write that has arrived, with the state of the replica when it sent it.
  struct SentWrite {
    absl::Duration sent;
    absl::Time wall;                              // time by the replica's clock
    std::map<std::string, absl::Duration> asked;  // by autoscaler's path: when it was last answered
    std::map<std::string, absl::Duration> told;   // by resource: when its watch was up to date
  };
  const SentWrite& last_write() const { return last_write_; }
  // When it sent the last saved state of that autoscaler's shard that has arrived. Zero: never.
  absl::Duration last_saved(const AutoscalerKey& key) const;
  const Options& options() const { return options_; }
  LoopWiring& wiring() { return *wiring_; }

 private:
  // The clocks of the replica's machine. Its wall clock may show any time.
  struct MachineClock : public Clock {
    MachineClock(SimulatedReplica& its_replica, absl::Duration begun)
        : replica(its_replica), time(&its_replica.world_.time), offset(begun) {}
    absl::Time WallNow() const override { return kSimulationStart + wall_skew + time->now(); }
    MonotonicTime MonotonicNow() const override { return offset + time->now(); }
    bool Await(absl::Mutex& mutex, const absl::Condition& condition,
               MonotonicTime deadline) override ABSL_NO_THREAD_SAFETY_ANALYSIS;

    SimulatedReplica& replica;
    SimulatedTime* const time;
    const absl::Duration offset;
    absl::Duration wall_skew;
  };
  struct Watch {
    kube::WatchHandler* handler = nullptr;
    kube::LocalTarget target;
    size_t told = 0;  // how many changes of the cluster it has reported
    bool open = false;
    bool closed = false;  // its stream has ended without an error
    bool behind = false;  // it is reporting bit by bit what it has missed
    bool pumping = false;
    int streams = 0;  // how often a stream was opened or closed
    absl::Status failure;
    absl::Duration silent;  // when it was last closed or broken
    // Of a stream that ended while the replica was frozen, which has not noticed that: how many
    // changes of the cluster had arrived by then, and the error with which it ended.
    std::optional<size_t> arrived;
    absl::Status end;
    absl::Duration noticed;  // when it last noticed the end of a stream
    // After a freeze that was too short to be noticed, until it goes on: when that began.
    std::optional<absl::Duration> unread_since;
  };
  class Transport;
  class Leases;
  class External;
  class Resource;
  class NoEvents : public kube::EventSink {
    void Record(const kube::EventSubject&, bool, absl::string_view, absl::string_view) override {}
  };
  class Observer;

  void StartWatch(const kube::ResourceInfo& resource, kube::WatchHandler& handler);
  void List(Watch& watch);
  void Open(Watch& watch);
  void CatchUp(Watch& watch, absl::Duration until);
  void Pump(Watch& watch);
  // The watch ends, with an error if `why` is not OK. A frozen replica notices it later, after what
  // had arrived by the stream, if that was open.
  void End(const absl::Status& why, bool was_open, Watch& watch);
  void NoticeEnd(Watch& watch);
  // Reports the next change, of the first `all`. False: there is none.
  bool TellNext(Watch& watch);
  bool TellNextOf(size_t all, Watch& watch);
  absl::Duration ToldUntil(const Watch& watch) const;
  SentWrite Write() const;  // as if sent now
  void TurnAt(absl::Duration when);
  void Round();
  void Beat();
  void WriteState();
  void WaitWhileFrozen() { WaitWhileFrozen(world_.chance); }
  void WaitWhileFrozen(Chance& chance);
  QuestionBoard::Run Pool();
  // How long one way of a call takes.
  absl::Duration Way(const SimulatedNetwork& network);
  // Makes a call that takes `timeout` at most. Returns an error, or what `serve` returns.
  template <typename Answer, typename Serve>
  absl::StatusOr<Answer> Call(const SimulatedNetwork& network, absl::Duration timeout,
                              const Serve& serve);

  const SimulatedWorld world_;
  const Options options_;
  MachineClock clock_;
  bool killed_ = false;
  bool stopping_ = false;
  bool frozen_ = false;
  absl::Duration frozen_at_;
  bool ended_ = false;
  bool in_round_ = false;
  int tasks_ = 0;  // tasks that were handed to a pool and have not ended
  absl::Duration turn_at_ = absl::InfiniteDuration();
  Chance lateness_;       // of the watches' reports
  Chance thaw_lateness_;  // of what goes on after a freeze: beats, watches
  SentWrite last_write_;
  std::map<std::string, absl::Duration> last_saved_;  // by ConfigMap
  std::map<std::string, absl::Duration> asked_;       // SentWrite::asked at present
  std::unique_ptr<http::HttpTransport> transport_;
  kube::ApiClient client_, lease_client_;
  kube::RequestBudget budget_;
  NoEvents no_events_;
  std::unique_ptr<LeaseStore> leases_;
  StateStore state_;
  ShardElection election_;
  std::unique_ptr<DecisionObserver> observer_;
  StallDetector stalls_;
  adapter::Providers providers_;
  std::map<std::string, Watch> watches_;  // by resource
  std::unique_ptr<LoopWiring> wiring_;
};

}  // namespace flyball::scaler
