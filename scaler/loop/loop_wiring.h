// Puts the loop of one scaler together with its stores and steps. Its only threads are those that
// write statuses. Pools and connections come from its owner, which is the running program or a
// simulation.
//
// Thread-safe as its members are. Order of use: add feeds to the stores, begin the watches that
// feed them, then call Turn repeatedly from one thread. Before this object is destroyed, the pools
// must be idle and the watches must have ended.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "adapter/provider.h"
#include "base/clock.h"
#include "base/lanes.h"
#include "kube/client/api_client.h"
#include "kube/client/event_recorder.h"
#include "kube/client/request_budget.h"
#include "kube/objects/object_directory.h"
#include "kube/watch/pod_feed.h"
#include "scaler/loop/loop.h"
#include "scaler/loop/scaler.h"
#include "scaler/questions/question_board.h"
#include "scaler/steady/steady_step.h"
#include "scaler/steps/act_step.h"
#include "scaler/steps/decide_step.h"
#include "scaler/steps/live_config.h"
#include "scaler/steps/read_step.h"
#include "scaler/steps/report_step.h"
#include "scaler/stores/autoscaler_store.h"
#include "scaler/stores/pod_store.h"
#include "scaler/stores/scale_store.h"
#include "scaler/stores/stall_detector.h"
#include "scaler/views/status_writer.h"

namespace flyball::scaler {

// Limits for triggers. Triggers wait for servers that may be slow or hang, so they have a pool of
// threads of their own, which lanes (base/lanes.h) share out among namespaces and servers.
inline constexpr Lanes::Limits kTriggerLanes = {.threads = 128, .of_server = 24};

// Limits for requests to one server by all namespaces: one namespace may use all threads while no
// other waits; otherwise the namespaces take turns of `in_a_row` tasks.
inline Lanes::Limits TurnsOnly(int threads, int in_a_row) {
  return {.threads = threads,
          .of_server = threads,
          .part_of_threads = 0,
          .part_of_server = 0,
          .in_a_row = in_a_row};
}

// Everything outlives the loop.
struct LoopDependencies {
  kube::ApiClient& client;
  kube::RequestBudget& budget;
  kube::EventSink& hpa_events;
  kube::EventSink& own_events;
  kube::ObjectDirectory& directory;
  std::shared_ptr<kube::PodFeed> pod_followers = nullptr;  // get the events of all pods
  std::function<adapter::Providers()> providers;
  Clock& clock;
  Ownership& ownership;
  std::vector<DecisionObserver*> observers;
  std::shared_ptr<TriggerClients> trigger_clients;
  std::shared_ptr<RequestFront> front = nullptr;  // for http triggers; nullptr: there is no front
  const StallDetector* stalls = nullptr;          // nullptr: the process never stalls
  // Begins the watches of a kind of targets when the first target of that kind is seen.
  ScaleStore::StartWatch start_watch;
  // Pools for work that blocks, or that is divided among several threads.
  QuestionBoard::Run run_reads, run_triggers, run_decisions, run_writes;
  // How many threads write statuses; 0: the owner writes them by calling StatusWriter::WriteNext.
  int status_threads = 2;
  // Called when Turn has to be called earlier than its last return value said.
  std::function<void()> wake_up;
};

class LoopWiring {
 public:
  LoopWiring(LoopDependencies dependencies, const ScalerOptions& options);
  ~LoopWiring();
  LoopWiring(const LoopWiring&) = delete;
  LoopWiring& operator=(const LoopWiring&) = delete;

  // Begins the cycles that are due, or does nothing until the first lists of autoscalers and pods
  // have arrived. Returns the latest time of the next call.
  MonotonicTime Turn();

  // OK once decisions have begun and the scales are listed too; else an error with what is missing.
  absl::Status Ready() const;

  AutoscalerStore& autoscalers() { return autoscalers_; }
  PodStore& pods() { return pods_; }
  StatusWriter& statuses() { return *statuses_; }
  Lanes& read_lanes() { return read_lanes_; }
  Lanes& trigger_lanes() { return trigger_lanes_; }
  Lanes& write_lanes() { return write_lanes_; }
  Loop& loop() { return *loop_; }

  const ActStep& act() const { return act_; }

  // Uses the API server's version where the options set none, and the feature gates that objects in
  // the cluster show to be enabled.
  void UseVersion(const ServerVersion& seen) ABSL_LOCKS_EXCLUDED(version_mutex_);
  MathConfigsPtr configs() const { return configs_.Get(); }

  // Drops the statuses that were not written. To be called after StatusWriter::Flush.
  void EndStatuses() { statuses_.reset(); }

 private:
  // OK once the first list of at least one namespace has arrived, and each other one has arrived or
  // failed.
  absl::Status Listed() const;
  bool GateShows() const;
  void UseWhatShows() ABSL_EXCLUSIVE_LOCKS_REQUIRED(version_mutex_);

  LoopDependencies dependencies_;
  const DialectChoice dialect_;
  const bool acts_on_hpas_;
  LiveConfig configs_;
  absl::Mutex version_mutex_;
  ServerVersion version_ ABSL_GUARDED_BY(version_mutex_);
  bool gate_shown_ ABSL_GUARDED_BY(version_mutex_) = false;  // result of the last UseWhatShows
  bool listed_ = false;
  PodStore pods_;
  ScaleStore scales_;
  QuestionBoard board_;
  Lanes read_lanes_;
  Lanes trigger_lanes_;
  Lanes write_lanes_;
  std::unique_ptr<StatusWriter> statuses_;
  ReadStep read_;
  DecideStep decide_;
  ActStep act_;
  ReportStep report_;
  SteadyStep steady_;
  std::unique_ptr<Loop> loop_;
  AutoscalerStore autoscalers_;  // feeds the loop; the steps ask it whether its watches work
};

}  // namespace flyball::scaler
