// The scaler of one serving process: the loop with its election, its saved state, and the views of
// its decisions, made from flags.
//
// Start and Stop are called once each. They start in this order: the front, the loop, the election
// (leases). They stop in this order: the loop, until no write is under way, the front, then the
// election, which saves the state and releases the Leases. The Envoys then ask the next owner about
// the requests that they hold.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "adapter/provider.h"
#include "apiservice/options.h"
#include "base/clock.h"
#include "base/repeating_thread.h"
#include "http/client/transport.h"
#include "kube/client/api_client.h"
#include "kube/objects/object_directory.h"
#include "kube/watch/pod_feed.h"
#include "processes/local_cluster.h"
#include "scaler/loop/loop_metrics.h"
#include "scaler/loop/scaler.h"
#include "scaler/shards/election.h"
#include "scaler/shards/remembering_owner.h"
#include "scaler/shards/state_store.h"
#include "scaler/stores/stall_detector.h"
#include "scaler/stores/state_upkeep.h"
#include "scaler/views/advise.h"
#include "scaler/views/decision_file.h"
#include "scaler/views/decision_log.h"
#include "scaler/views/otlp_log.h"
#include "scaler/views/shadow.h"
#include "serve/flags.h"
#include "serve/front/serve_front.h"

namespace prometheus {
class Collectable;
}

namespace flyball::serve {

class ServeScaler {
 public:
  struct Deps {  // all outlive the scaler
    kube::ObjectDirectory& directory;
    std::function<adapter::Providers()> providers;  // of the rules
    Clock& clock;
    std::shared_ptr<kube::PodFeed> pod_followers;  // see Scaler::Deps
    processes::LocalCluster* cluster;              // to scale; nullptr: that of the flags
  };

  // kInvalidArgument, kFailedPrecondition: the flag and what is wrong.
  static absl::StatusOr<std::unique_ptr<ServeScaler>> Make(const ServeFlags& flags,
                                                           const Deps& deps);
  ~ServeScaler();  // stops
  ServeScaler(const ServeScaler&) = delete;
  ServeScaler& operator=(const ServeScaler&) = delete;

  absl::Status Start();
  void Stop();

  // OK once everything is listed and the Leases were read, whoever holds them.
  absl::Status Ready() const;

  // Adds the advised metric to the providers of the rules.
  adapter::Providers WithAdvice(adapter::Providers providers) {
    return advise_.Wrap(std::move(providers));
  }
  // /debug/decisions.
  std::string DebugDecisions(const apiservice::DebugParameter& parameter) const;
  std::shared_ptr<prometheus::Collectable> metrics() const;
  // Appends the gauges of each autoscaler in the text format of /metrics, if the flags ask for it.
  void AppendGauges(std::string& text) const;

 private:
  class FreshMetrics;
  // `connect`: to the API server. `ns`: the namespace of the Leases and the saved state.
  ServeScaler(const ServeFlags& flags, const Deps& deps, scaler::Scaler::MakeTransport connect,
              std::unique_ptr<http::HttpTransport> own, std::unique_ptr<scaler::OtlpLog> otlp,
              const std::string& ns);
  scaler::Ownership& Owner();
  bool MayWrite(int shard) const {
    return !flags_.leader_elect || election_.MayWriteShard(shard, clock_.MonotonicNow());
  }
  std::vector<scaler::DecisionObserver*> Observers();

  const ScalerFlags flags_;
  const scaler::ScalerOptions options_;
  Clock& clock_;
  const std::string identity_;
  std::unique_ptr<http::HttpTransport> transport_;  // for Leases and the saved state
  kube::ApiClient client_;
  scaler::ApiLeaseStore leases_;
  scaler::StateStore state_;
  scaler::ShardElection election_;
  scaler::RememberingOwner sole_;
  scaler::DecisionLog log_;
  std::unique_ptr<scaler::DecisionFile> file_;  // nullptr: not asked for
  std::unique_ptr<scaler::OtlpLog> otlp_;       // likewise
  scaler::Advise advise_;
  scaler::Shadow shadow_;
  scaler::LoopMetricSources sources_;
  std::shared_ptr<FreshMetrics> fresh_;
  scaler::LoopMetrics metrics_;
  std::shared_ptr<ServeFront> front_;  // nullptr: this process carries no requests
  scaler::StallDetector stalls_;
  RepeatingThread beats_;
  scaler::Scaler scaler_;
  bool started_ = false;
};

}  // namespace flyball::serve
