#include "serve/serve_scaler.h"

#include <prometheus/collectable.h>
#include <prometheus/registry.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/read_file.h"
#include "base/status_macros.h"
#include "kube/client/api_client.h"
#include "kube/client/kubeconfig.h"
#include "scaler/loop/loop_metrics.h"
#include "scaler/loop/scaler.h"
#include "scaler/shards/election.h"
#include "scaler/shards/state_store.h"
#include "scaler/stores/state_upkeep.h"
#include "scaler/views/advise.h"
#include "scaler/views/decision_log.h"
#include "scaler/views/shadow.h"
#include "serve/connections.h"
#include "serve/debug_decisions.h"

namespace flyball::serve {
namespace {

// The metrics of a registry, brought up to date at each scrape.
class FreshMetrics : public prometheus::Collectable {
 public:
  explicit FreshMetrics(std::function<void()> refresh) : refresh_(std::move(refresh)) {}
  prometheus::Registry& registry() { return registry_; }
  std::vector<prometheus::MetricFamily> Collect() const override {
    refresh_();
    return registry_.Collect();
  }

 private:
  const std::function<void()> refresh_;
  prometheus::Registry registry_;
};

}  // namespace

std::string PodNamespace() {
  const char* variable = std::getenv("POD_NAMESPACE");
  if (variable != nullptr && *variable != '\0') return variable;
  const std::string text =
      ReadFile(absl::StrCat(kube::kServiceAccountFolder, "/namespace")).value_or("");
  return std::string(absl::StripAsciiWhitespace(text));
}

std::string NewIdentity() {
  char host[256] = "";
  if (gethostname(host, sizeof(host) - 1) != 0 || host[0] == '\0') {
    absl::SNPrintF(host, sizeof(host), "flyball");
  }
  std::random_device random;
  return absl::StrFormat("%s_%08x%08x", host, random(), random());
}

class ServeScaler::Impl {
 public:
  Impl(const ServeFlags& flags, const Deps& deps, http::TransportOptions server,
       std::unique_ptr<http::HttpTransport> own, const std::string& ns)
      : flags_(flags.scaler),
        clock_(deps.clock),
        server_(std::move(server)),
        identity_(NewIdentity()),
        transport_(std::move(own)),
        client_(*transport_, deps.clock,
                std::min(WriteTimeout(flags.scaler), flags.scaler.lease_renew_deadline / 2)),
        leases_(scaler::MakeLeaseStore(client_, ns)),
        state_(StateOptions(flags.scaler, ns), client_, deps.clock),
        election_(ElectionOptionsFrom(flags.scaler, ns, identity_), *leases_, &state_, deps.clock),
        sole_(state_),
        advise_(flags.scaler.sync_period, deps.clock),
        shadow_({.period = flags.scaler.sync_period}, deps.clock),
        fresh_(std::make_shared<FreshMetrics>([this] { metrics_.Refresh(sources_); })),
        metrics_(fresh_->registry(), deps.clock),
        scaler_({.make_transport = [this] { return http::MakeHttpTransport(server_, clock_); },
                 .directory = deps.directory,
                 .providers = deps.providers,
                 .clock = deps.clock,
                 .ownership = Owner(),
                 .observers = {&log_, &metrics_, &shadow_, &advise_, &state_},
                 .pod_followers = deps.pod_followers},
                ScalerOptionsFrom(flags.scaler)) {
    sources_.scaler = [this] { return scaler_.stats(); };
    sources_.shards_owned = [this] { return flags_.leader_elect ? election_.owned() : size_t{1}; };
    sources_.state = &state_;
    sources_.log = &log_;
    sources_.shadow = &shadow_;
    sources_.advise = &advise_;
  }

  ~Impl() { Stop(); }

  absl::Status Start() {
    started_ = true;
    spdlog::info("scaler: mode {}{}, as {}, {}", flags_.mode,
                 flags_.hpa ? ", HorizontalPodAutoscalers too" : "", identity_,
                 flags_.leader_elect ? absl::StrCat("leases of ", flags_.shards, " shards")
                                     : "without leases");
    if (!flags_.leader_elect) {
      RETURN_IF_ERROR(state_.Load(0, {}));
      state_.Start();
      return scaler_.Start();
    }
    state_.UseFence(
        [this](int shard) { return election_.MayWriteShard(shard, clock_.MonotonicNow()); });
    state_.Start();
    // The loop first: it is told of each shard that is won.
    RETURN_IF_ERROR(scaler_.Start());
    election_.Start();
    return absl::OkStatus();
  }

  void Stop() {
    if (!std::exchange(started_, false)) return;
    scaler_.Stop();
    state_.Stop();
    if (flags_.leader_elect) {
      election_.Stop();
    } else {
      state_.Save(0);
    }
  }

  absl::Status Ready() const {
    RETURN_IF_ERROR(scaler_.Ready());
    return flags_.leader_elect ? election_.Ready() : absl::OkStatus();
  }

  adapter::Providers WithAdvice(adapter::Providers providers) {
    return advise_.Wrap(std::move(providers));
  }

  std::string DebugDecisions(const apiservice::DebugParameter& parameter) const {
    return DebugDecisionsJson({.log = log_, .shadow = shadow_, .replica = identity_}, parameter);
  }

  std::shared_ptr<prometheus::Collectable> metrics() const { return fresh_; }

 private:
  static scaler::StateStoreOptions StateOptions(const ScalerFlags& flags, const std::string& ns) {
    scaler::StateStoreOptions options;
    options.ns = ns;
    options.shards = flags.shards;
    options.longest_window = std::max(scaler::kLongestWindow, flags.downscale_stabilization);
    return options;
  }

  scaler::Ownership& Owner() {
    return flags_.leader_elect ? static_cast<scaler::Ownership&>(election_) : sole_;
  }

  const ScalerFlags flags_;
  Clock& clock_;
  const http::TransportOptions server_;
  const std::string identity_;
  std::unique_ptr<http::HttpTransport> transport_;  // of leases and what is remembered
  kube::ApiClient client_;
  std::unique_ptr<scaler::LeaseStore> leases_;
  scaler::StateStore state_;
  scaler::ShardElection election_;
  scaler::RememberingOwner sole_;
  scaler::DecisionLog log_;
  scaler::Advise advise_;
  scaler::Shadow shadow_;
  scaler::LoopMetricSources sources_;
  std::shared_ptr<FreshMetrics> fresh_;
  scaler::LoopMetrics metrics_;
  scaler::Scaler scaler_;
  bool started_ = false;
};

absl::StatusOr<std::unique_ptr<ServeScaler>> ServeScaler::Make(const ServeFlags& flags,
                                                               const Deps& deps) {
  const bool own = !flags.scaler.kubeconfig.empty();
  ASSIGN_OR_RETURN(http::TransportOptions server,
                   ClusterTransportOptions(own ? flags.scaler.kubeconfig : flags.lister_kubeconfig,
                                           own ? "--scaler-kubeconfig" : "--lister-kubeconfig"));
  const std::string ns =
      flags.scaler.lease_namespace.empty() ? PodNamespace() : flags.scaler.lease_namespace;
  if (ns.empty()) {
    return absl::FailedPreconditionError(
        "--scaler-lease-namespace: this is no pod, so say in which namespace the scaler's leases "
        "and what it remembers are kept");
  }
  ASSIGN_OR_RETURN(std::unique_ptr<http::HttpTransport> transport,
                   http::MakeHttpTransport(server, deps.clock));
  return std::unique_ptr<ServeScaler>(new ServeScaler(
      std::make_unique<Impl>(flags, deps, std::move(server), std::move(transport), ns)));
}

ServeScaler::ServeScaler(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ServeScaler::~ServeScaler() = default;

absl::Status ServeScaler::Start() { return impl_->Start(); }
void ServeScaler::Stop() { impl_->Stop(); }
absl::Status ServeScaler::Ready() const { return impl_->Ready(); }
adapter::Providers ServeScaler::WithAdvice(adapter::Providers providers) {
  return impl_->WithAdvice(std::move(providers));
}
std::string ServeScaler::DebugDecisions(const apiservice::DebugParameter& parameter) const {
  return impl_->DebugDecisions(parameter);
}
std::shared_ptr<prometheus::Collectable> ServeScaler::metrics() const { return impl_->metrics(); }

}  // namespace flyball::serve
