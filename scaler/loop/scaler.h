// The scaler as one object with its threads: it watches autoscalers, their targets and pods,
// decides each autoscaler at its cadence and acts.
//
// Thread-safe; Start and Stop are called once each, Ready and stats also before and after. Threads:
// one for each watch, one that begins what is due, one that asks for the cluster's version, four
// pools (for questions, for triggers, for decisions, for scale writes), two that write statuses,
// and two that send events. Everything in Deps outlives the scaler.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "adapter/provider.h"
#include "base/clock.h"
#include "base/repeating_thread.h"
#include "base/worker_pool.h"
#include "http/client/address_rules.h"
#include "http/client/transport.h"
#include "kube/client/api_client.h"
#include "kube/client/event_recorder.h"
#include "kube/client/request_budget.h"
#include "kube/objects/object_directory.h"
#include "kube/objects/rest_mapping.h"
#include "kube/watch/object_watch.h"
#include "kube/watch/pod_feed.h"
#include "scaler/math/math_config.h"
#include "scaler/spec/dialect.h"
#include "scaler/steps/mode.h"
#include "scaler/stores/ownership.h"
#include "scaler/stores/secrets.h"
#include "scaler/stores/stall_detector.h"
#include "scaler/views/decision_record.h"

namespace flyball::scaler {

class LoopWiring;
class RequestFront;
class TriggerClients;

struct ScalerOptions : ModeFlags {
  std::vector<std::string> namespaces;  // empty: all
  absl::Duration sync_period = absl::Seconds(15);
  // Least time between two status writes if only values have changed.
  absl::Duration status_interval = absl::Seconds(15);
  ControllerFlags controller;
  // The controller version whose decisions ours equal. If it is not set, it is the API server's
  // version, and nothing is decided until that is known.
  DialectChoice dialect{.minor = kOldestMinor, .gates = {}};
  double writes_per_second = 500;
  int write_burst = 1000;
  // Time limit for one request to the API server. A write must end before another replica may begin
  // one, so this is no longer than the election's WriteMargin.
  absl::Duration request_timeout = absl::Seconds(5);
  http::AddressRules trigger_addresses;  // what triggers may connect to
  TriggerSecrets trigger_secrets = TriggerSecrets::kAll;
  int decide_threads = 2;
  int read_threads = 16;
  int write_threads = 8;
};

class Scaler {
 public:
  using MakeTransport = std::function<absl::StatusOr<std::unique_ptr<http::HttpTransport>>()>;

  struct Deps {
    MakeTransport make_transport;      // to the API server
    kube::ObjectDirectory& directory;  // its mapper tells which kinds exist
    std::function<adapter::Providers()> providers;
    Clock& clock;
    Ownership& ownership;
    std::vector<DecisionObserver*> observers;
    // Gets the events of all pods that the scaler watches, until the scaler is destroyed. May be
    // set only where `namespaces` is empty; nullptr: nobody needs them.
    std::shared_ptr<kube::PodFeed> pod_followers = nullptr;
    // Carries the requests of http triggers; nullptr: there is no front.
    std::shared_ptr<RequestFront> front = nullptr;
    // Just after a stall, watches may be behind. nullptr: the process never stalls.
    const StallDetector* stalls = nullptr;
  };

  Scaler(const Deps& deps, ScalerOptions options);
  ~Scaler();  // stops
  Scaler(const Scaler&) = delete;
  Scaler& operator=(const Scaler&) = delete;

  absl::Status Start();
  void Stop();

  // OK once the first lists have arrived; else an error that says what is missing.
  absl::Status Ready() const;

  struct Stats {
    size_t autoscalers = 0, owned = 0, steady = 0, pods = 0, queue = 0;
    uint64_t decisions = 0, unchanged = 0, scale_writes = 0, status_writes = 0, conflicts = 0,
             api_calls = 0;
  };
  Stats stats() const;

 private:
  void MakeLoop();
  // nullptr: the watch could not be made, and the handler has been told.
  std::unique_ptr<kube::ObjectWatch> MakeWatch(const kube::ResourceInfo& resource,
                                               const std::string& ns, kube::WatchHandler& handler);
  void StartWatch(const kube::ResourceInfo& resource, const std::string& ns,
                  kube::WatchHandler& handler);
  void StartWatches();
  // Returns when it is to be called again.
  RepeatingThread::Next TellDue();
  // Returns after which time it is to be called again.
  absl::Duration AskVersion();

  const Deps deps_;
  const ScalerOptions options_;
  RepeatingThread due_;  // other members wake it until they are destroyed, so it comes first
  RepeatingThread version_;
  std::atomic<bool> version_known_;
  std::string version_failure_;  // of the last look; used by the thread of version_ alone
  std::unique_ptr<http::HttpTransport> server_;
  std::unique_ptr<kube::ApiClient> client_;
  std::unique_ptr<kube::RequestBudget> budget_;
  std::unique_ptr<kube::EventRecorder> hpa_events_, own_events_;
  std::unique_ptr<WorkerPool> reads_, triggers_, decisions_, writes_;
  const std::shared_ptr<TriggerClients> trigger_clients_;
  std::unique_ptr<LoopWiring> wiring_;
  // The watch of pods that others follow. It continues after Stop, since they still need it.
  std::unique_ptr<kube::ObjectWatch> followed_watch_;
  absl::Mutex mutex_;
  std::vector<std::unique_ptr<kube::ObjectWatch>> watches_ ABSL_GUARDED_BY(mutex_);
  // Ready and stats may be called at any time. The members that they read are complete while
  // running_ is true, and they hold the lock while they read.
  mutable absl::Mutex running_mutex_;
  bool running_ ABSL_GUARDED_BY(running_mutex_) = false;
};

}  // namespace flyball::scaler
