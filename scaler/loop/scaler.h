// The scaler as one object with its threads: it watches autoscalers, their targets and pods,
// decides each autoscaler at its cadence and acts.
//
// Thread-safe; Start and Stop are called once each, Ready and stats also before and after. Threads:
// one for each watch, one that begins what is due, one that asks for the cluster's version, four
// pools (for questions, for triggers, for decisions, for scale writes), two that write statuses,
// and two that send events. Everything in Deps outlives the scaler.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "adapter/provider.h"
#include "base/clock.h"
#include "http/client/address_rules.h"
#include "http/client/transport.h"
#include "kube/objects/object_directory.h"
#include "kube/watch/pod_feed.h"
#include "scaler/math/math_config.h"
#include "scaler/spec/dialect.h"
#include "scaler/steps/mode.h"
#include "scaler/stores/ownership.h"
#include "scaler/stores/secrets.h"
#include "scaler/views/decision_record.h"

namespace flyball::scaler {

class RequestFront;

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
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace flyball::scaler
