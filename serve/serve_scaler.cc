#include "serve/serve_scaler.h"

#include <prometheus/collectable.h>
#include <prometheus/registry.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "scaler/front/module/data_path_server.h"
#include "scaler/loop/autoscaler_gauges.h"
#include "serve/connections.h"
#include "serve/debug_pages.h"
#include "serve/front/front_metrics.h"
#include "serve/front/metric_family.h"

namespace flyball::serve {
namespace {

// A folder of objects has no version: it counts as a cluster of the newest version.
scaler::ScalerOptions OptionsOf(const ServeFlags& flags, bool folder) {
  scaler::ScalerOptions options = ScalerOptionsFrom(flags.scaler);
  if (folder && !options.dialect.minor.has_value()) options.dialect.minor = scaler::kNewestMinor;
  return options;
}

std::unique_ptr<scaler::DecisionFile> DecisionFileOf(const ScalerFlags& flags, Clock& clock) {
  if (flags.decision_log.empty()) return nullptr;
  const size_t most = static_cast<size_t>(flags.decision_log_megabytes) << 20;
  return std::make_unique<scaler::DecisionFile>(flags.decision_log, most, clock);
}

// nullptr: no receiver is configured.
absl::StatusOr<std::unique_ptr<scaler::OtlpLog>> OtlpLogOf(const ScalerFlags& flags, Clock& clock) {
  if (flags.decision_log_otlp.empty()) return nullptr;
  http::TransportOptions options;
  options.url = flags.decision_log_otlp;
  absl::StatusOr<std::unique_ptr<http::HttpTransport>> server =
      http::MakeHttpTransport(std::move(options), clock);
  if (!server.ok()) {
    return absl::Status(server.status().code(),
                        absl::StrCat("--decision-log-otlp: ", server.status().message()));
  }
  return std::make_unique<scaler::OtlpLog>(*std::move(server), "/v1/logs", clock);
}

// How many decisions came to the receiver of logs, and how many did not.
prometheus::MetricFamily OtlpCounts(const scaler::OtlpLog& log) {
  return Family(prometheus::MetricType::Counter, "flyball_decision_log_otlp_total",
                "Decisions for --decision-log-otlp by outcome: sent or dropped.",
                {{{{"outcome", "sent"}}, static_cast<double>(log.sent())},
                 {{{"outcome", "dropped"}}, static_cast<double>(log.dropped())}});
}

scaler::ElectionOptions ElectionOf(scaler::ElectionOptions options, const std::string& ns,
                                   const std::string& identity) {
  options.ns = ns;
  options.identity = identity;
  return options;
}

// The name of the machine (for a pod: its name), and a random end, so that a process is never
// confused with an earlier one.
std::string NewIdentity() {
  char host[256] = "";
  if (gethostname(host, sizeof(host) - 1) != 0 || host[0] == '\0') {
    absl::SNPrintF(host, sizeof(host), "flyball");
  }
  std::random_device random;
  return absl::StrFormat("%s_%08x%08x", host, random(), random());
}

// nullptr: no Envoys are listened for.
std::shared_ptr<ServeFront> FrontOf(const ScalerFlags& flags, const scaler::ScalerOptions& options,
                                    scaler::Scaler::MakeTransport connect, const std::string& ns,
                                    Clock& clock, std::function<bool()> may_write) {
  if (flags.front_listen.empty()) return nullptr;
  front::DataPathServerOptions server{.listen = flags.front_listen,
                                      .cert_file = flags.front_cert_file,
                                      .key_file = flags.front_key_file,
                                      .ca_file = flags.front_ca_file,
                                      .peer_name = flags.front_peer_name};
  FrontSettings settings;
  settings.namespaces = options.namespaces;
  settings.envoy_namespace = ns;
  settings.envoy_selector = flags.front_pod_selector;
  settings.hosts_port = static_cast<uint16_t>(flags.front_hosts_port);
  settings.hosts.shared = flags.front_shared_hosts;
  return std::make_shared<ServeFront>(
      ServeFront::Deps{.connect = std::move(connect),
                       .clock = clock,
                       .listen = [server = std::move(server), &clock](front::DataPathEvents& events)
                           -> absl::StatusOr<std::unique_ptr<front::DataPath>> {
                         return front::MakeDataPathServer(server, clock, events);
                       },
                       .may_write = std::move(may_write)},
      settings);
}

}  // namespace

// The metrics of a registry, brought up to date at each scrape.
class ServeScaler::FreshMetrics : public prometheus::Collectable {
 public:
  // `otlp`: whose counts are told; nullptr: there are none.
  FreshMetrics(std::function<void()> refresh, const scaler::OtlpLog* otlp)
      : refresh_(std::move(refresh)), otlp_(otlp) {}
  // To be called before the first scrape.
  void Add(std::shared_ptr<const ServeFront> front) { front_ = std::move(front); }
  prometheus::Registry& registry() { return registry_; }
  std::vector<prometheus::MetricFamily> Collect() const override {
    refresh_();
    std::vector<prometheus::MetricFamily> families = registry_.Collect();
    if (otlp_ != nullptr) families.push_back(OtlpCounts(*otlp_));
    if (front_ != nullptr) {
      for (prometheus::MetricFamily& family : FrontMetrics(*front_)) {
        families.push_back(std::move(family));
      }
    }
    return families;
  }

 private:
  const std::function<void()> refresh_;
  const scaler::OtlpLog* const otlp_;
  std::shared_ptr<const ServeFront> front_;
  prometheus::Registry registry_;
};

ServeScaler::ServeScaler(const ServeFlags& flags, const Deps& deps,
                         scaler::Scaler::MakeTransport connect,
                         std::unique_ptr<http::HttpTransport> own,
                         std::unique_ptr<scaler::OtlpLog> otlp, const std::string& ns)
    : flags_(flags.scaler),
      options_(OptionsOf(flags, deps.cluster != nullptr)),
      clock_(deps.clock),
      identity_(NewIdentity()),
      transport_(std::move(own)),
      client_(*transport_, deps.clock,
              std::min(options_.request_timeout, flags_.election.renew_deadline / 2)),
      leases_(client_, ns),
      state_({.ns = ns,
              .shards = flags_.election.shards,
              .longest_window = std::max(scaler::kLongestWindow,
                                         flags_.options.controller.downscale_stabilization)},
             client_, deps.clock),
      election_(ElectionOf(flags_.election, ns, identity_), leases_, &state_, deps.clock),
      sole_(state_, deps.clock),
      file_(DecisionFileOf(flags_, deps.clock)),
      otlp_(std::move(otlp)),
      advise_(options_.sync_period, deps.clock),
      shadow_({.period = options_.sync_period}, deps.clock),
      fresh_(std::make_shared<FreshMetrics>([this] { metrics_.Refresh(sources_); }, otlp_.get())),
      metrics_(fresh_->registry(), deps.clock),
      front_(FrontOf(flags_, options_, connect, ns, deps.clock, [this] { return MayWrite(0); })),
      beats_(deps.clock,
             [this] {
               stalls_.Beat(clock_.MonotonicNow());
               return scaler::StallDetector::kBeat;
             }),
      scaler_({.make_transport = std::move(connect),
               .directory = deps.directory,
               .providers = deps.providers,
               .clock = deps.clock,
               .ownership = Owner(),
               .observers = Observers(),
               .pod_followers = deps.pod_followers,
               .front = front_,
               .stalls = &stalls_},
              options_) {
  sources_.scaler = [this] { return scaler_.stats(); };
  sources_.shards_owned = [this] { return flags_.leader_elect ? election_.owned() : size_t{1}; };
  sources_.state = &state_;
  sources_.log = &log_;
  sources_.shadow = &shadow_;
  sources_.advise = &advise_;
  fresh_->Add(front_);
}

ServeScaler::~ServeScaler() { Stop(); }

absl::StatusOr<std::unique_ptr<ServeScaler>> ServeScaler::Make(const ServeFlags& flags,
                                                               const Deps& deps) {
  scaler::Scaler::MakeTransport connect;
  std::string ns = flags.scaler.election.ns;
  if (deps.cluster != nullptr) {
    connect = [cluster = deps.cluster] { return cluster->Connect(); };
    if (ns.empty()) ns = "default";
  } else {
    const bool own = !flags.scaler.kubeconfig.empty();
    ASSIGN_OR_RETURN(
        http::TransportOptions server,
        ClusterTransportOptions(own ? flags.scaler.kubeconfig : flags.lister_kubeconfig,
                                own ? "--scaler-kubeconfig" : "--lister-kubeconfig"));
    connect = [server = std::move(server), &clock = deps.clock] {
      return http::MakeHttpTransport(server, clock);
    };
    if (ns.empty()) ns = PodNamespace();
  }
  if (ns.empty()) {
    return absl::FailedPreconditionError(
        "--scaler-lease-namespace: this is no pod, so say in which namespace the scaler's leases "
        "and what it remembers are kept");
  }
  ASSIGN_OR_RETURN(std::unique_ptr<http::HttpTransport> transport, connect());
  ASSIGN_OR_RETURN(std::unique_ptr<scaler::OtlpLog> otlp, OtlpLogOf(flags.scaler, deps.clock));
  return absl::WrapUnique(
      new ServeScaler(flags, deps, std::move(connect), std::move(transport), std::move(otlp), ns));
}

std::vector<scaler::DecisionObserver*> ServeScaler::Observers() {
  std::vector<scaler::DecisionObserver*> all = {&log_, &metrics_, &shadow_, &advise_, &state_};
  if (file_ != nullptr) all.push_back(file_.get());
  if (otlp_ != nullptr) all.push_back(otlp_.get());
  if (front_ != nullptr) all.push_back(front_.get());
  return all;
}

absl::Status ServeScaler::Start() {
  if (file_ != nullptr) {
    if (const absl::Status opened = file_->Start(); !opened.ok()) {
      return absl::Status(opened.code(), absl::StrCat("--decision-log: ", opened.message()));
    }
  }
  if (otlp_ != nullptr) otlp_->Start();
  if (front_ != nullptr) RETURN_IF_ERROR(front_->Start());
  beats_.Start();
  started_ = true;
  spdlog::info("scaler: mode {}{}, as {}, {}", flags_.mode,
               options_.act_on_hpas ? ", HorizontalPodAutoscalers too" : "", identity_,
               flags_.leader_elect ? absl::StrCat("leases of ", flags_.election.shards, " shards")
                                   : "without leases");
  if (!flags_.leader_elect) {
    state_.Start();
    sole_.Start();
    return scaler_.Start();
  }
  state_.UseFence([this](int shard) { return MayWrite(shard); });
  state_.Start();
  // The loop first: it is told of each shard that is won.
  RETURN_IF_ERROR(scaler_.Start());
  election_.Start();
  return absl::OkStatus();
}

void ServeScaler::Stop() {
  if (!std::exchange(started_, false)) return;
  scaler_.Stop();
  beats_.Stop();
  if (front_ != nullptr) front_->Stop();
  state_.Stop();
  if (flags_.leader_elect) {
    election_.Stop();
  } else {
    sole_.Stop();
    state_.Save(0);
  }
  // Last, since another replica waits for the Leases, and a receiver of logs may be slow.
  if (file_ != nullptr) file_->Stop();
  if (otlp_ != nullptr) otlp_->Stop();
}

absl::Status ServeScaler::Ready() const {
  RETURN_IF_ERROR(scaler_.Ready());
  return flags_.leader_elect ? election_.Ready() : absl::OkStatus();
}

std::string ServeScaler::DebugDecisions(const apiservice::DebugParameter& parameter) const {
  return DebugDecisionsJson({.log = log_, .shadow = shadow_, .replica = identity_}, parameter);
}

std::shared_ptr<prometheus::Collectable> ServeScaler::metrics() const { return fresh_; }

void ServeScaler::AppendGauges(std::string& text) const {
  if (flags_.autoscaler_metrics) scaler::AppendAutoscalerGauges(log_, text);
}

scaler::Ownership& ServeScaler::Owner() {
  return flags_.leader_elect ? static_cast<scaler::Ownership&>(election_) : sole_;
}

}  // namespace flyball::serve
