#include "serve/serve.h"

#include <malloc.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "adapter/adapter.h"
#include "adapter/live/kubelet/kubelet_provider.h"
#include "adapter/metrics.h"
#include "adapter/queries/choosing_source.h"
#include "apiservice/api_server.h"
#include "base/free_memory.h"
#include "base/status_macros.h"
#include "base/thread_limit.h"
#include "rules/compiled_rules.h"
#include "serve/build_info.h"
#include "serve/connections.h"
#include "serve/debug_pages.h"
#include "serve/hpa_askers.h"
#include "serve/live_source.h"
#include "serve/logging.h"
#include "serve/rule_file.h"
#include "serve/serve_scaler.h"
#include "serve/server_options.h"

namespace flyball::serve {
namespace {

constexpr absl::Duration kRuleFileInterval = absl::Seconds(1);

// Everything that one serving process is made of, in the order in which it is built.
class Service {
 public:
  Service(ServeFlags flags, Clock& clock)
      : flags_(std::move(flags)),
        clock_(clock),
        metrics_(std::make_shared<prometheus::Registry>()),
        adapter_metrics_(*metrics_) {}

  ~Service() { Stop(); }

  absl::Status Start() {
    ASSIGN_OR_RETURN(apiservice::ServerOptions server_options, ServerOptionsFrom(flags_));
    const std::string address = server_options.listen.bind_address;
    ASSIGN_OR_RETURN(rule_file_, RuleFile::Open(flags_.config, clock_, *metrics_));
    RETURN_IF_ERROR(CheckMaxAge());
    TellStart();
    TellDifferences();
    ASSIGN_OR_RETURN(objects_, MakeObjects(flags_, clock_));
    ASSIGN_OR_RETURN(adapter::MetricSource* const source, MakeSource());
    RETURN_IF_ERROR(MakeAskers());
    adapter_ =
        std::make_unique<adapter::Adapter>(adapter::Adapter::Deps{.source = *source,
                                                                  .directory = *objects_.directory,
                                                                  .clock = clock_,
                                                                  .metrics = &adapter_metrics_,
                                                                  .resource = KubeletMetrics(),
                                                                  .askers = askers_.get()},
                                           flags_.adapter, rule_file_->Rules());
    if (flags_.scaler.enabled) {
      ASSIGN_OR_RETURN(
          scaler_, ServeScaler::Make(flags_, {.directory = *objects_.directory,
                                              .providers = [this] { return adapter_->providers(); },
                                              .clock = clock_,
                                              .pod_followers = objects_.pods,
                                              .cluster = objects_.cluster.get()}));
    }
    RETURN_IF_ERROR(MakeServer(std::move(server_options)));
    WarnOfSources(*rule_file_->Rules());
    adapter_->Start();
    rule_file_->Watch(kRuleFileInterval, [this](RulesPtr rules) { SetRules(std::move(rules)); });
    if (live_ != nullptr) RETURN_IF_ERROR(live_->Start());
    RETURN_IF_ERROR(server_->Start());
    const bool ipv6 = absl::StrContains(address, ":");
    spdlog::info("serving on {}{}{}:{}", ipv6 ? "[" : "", address, ipv6 ? "]" : "",
                 server_->port());
    if (scaler_ == nullptr) return absl::OkStatus();
    // Without the scaler no process of a folder runs: nothing would say how many there should be.
    if (objects_.cluster != nullptr) RETURN_IF_ERROR(objects_.cluster->Start());
    return scaler_->Start();
  }

  void Reload() {
    rule_file_->Reload();
    if (live_ != nullptr) live_->ReloadScrapeConfig();
  }

  // Says which Prometheus answers, once one has; called now and then.
  void TellPrometheus() {
    if (prometheus_ == nullptr || told_prometheus_ || !adapter_->ready()) return;
    told_prometheus_ = true;
    const absl::StatusOr<std::string> version = prometheus_->Version(absl::Seconds(2));
    if (version.ok()) {
      spdlog::info("prometheus: {} says that it is version {}", prometheus_->ServerInUse(),
                   *version);
    } else {
      spdlog::debug("prometheus: {} does not say its version: {}", prometheus_->ServerInUse(),
                    std::string(version.status().message()));
    }
  }

  // Warns of overrides whose resource the cluster does not know, once for each; called regularly.
  void WarnOfUnknownResources() {
    if (!objects_.ready().ok()) return;
    const auto mapper = objects_.directory->mapper();
    const RulesPtr rules = rule_file_->Rules();
    if (mapper == checked_mapper_ && rules == checked_rules_) return;
    checked_mapper_ = mapper;
    checked_rules_ = rules;
    for (const rules::Finding& finding : rules::CheckResources(*rules, *mapper)) {
      if (warned_.insert(finding.ToString()).second) spdlog::warn("{}", finding.ToString());
    }
  }

  void Stop() {
    // This comes first, so that after the delay no new requests are sent here.
    if (server_ != nullptr) server_->BeginShutdown();
    // The scaler stops before the last requests end, so that another replica decides meanwhile.
    if (scaler_ != nullptr) scaler_->Stop();
    if (objects_.cluster != nullptr) objects_.cluster->Stop();
    // This comes before the server's shutdown, since its last requests may wait for the askers.
    if (askers_ != nullptr) askers_->Shutdown();
    if (server_ != nullptr) server_->Shutdown();
    server_.reset();
    scaler_.reset();
    if (rule_file_ != nullptr) rule_file_->StopWatching();
    // Neither the live source nor the relist waits for a hanging Prometheus.
    if (prometheus_ != nullptr) prometheus_->Shutdown();
    if (live_ != nullptr) live_->Stop();
    if (adapter_ != nullptr) adapter_->Stop();
  }

 private:
  // What answers the queries of the rules.
  absl::StatusOr<adapter::MetricSource*> MakeSource() {
    if (flags_.live.prometheus() || flags_.live.warms()) {
      ASSIGN_OR_RETURN(prometheus_, MakePrometheusSource(flags_, clock_, &adapter_metrics_));
    }
    if (!flags_.live.live()) return prometheus_.get();
    LiveSource::Deps deps = {.clock = clock_,
                             .connect = ConnectionToObjects(flags_, objects_, clock_),
                             .own_namespace = PodNamespace(),
                             .on_new_series = [this] { adapter_->RelistNow(); },
                             .relist_took = [this] { return adapter_->RelistNowTook(); },
                             .past = flags_.live.warms() ? prometheus_.get() : nullptr};
    if (flags_.live.scrape_kubelets > absl::ZeroDuration()) {
      ASSIGN_OR_RETURN(deps.kubelet_access, KubeletAccess(flags_));
    }
    ASSIGN_OR_RETURN(live_, LiveSource::Make(flags_.live, std::move(deps)));
    live_->SetRules(*rule_file_->Rules());
    if (!flags_.live.prometheus()) return &live_->source();
    choosing_ = std::make_unique<adapter::ChoosingSource>(live_->source(), *prometheus_, clock_,
                                                          flags_.adapter.relist.interval);
    return choosing_.get();
  }

  // Only for a cluster: the objects of a folder have no controller but our own.
  absl::Status MakeAskers() {
    if (!flags_.objects.empty()) return absl::OkStatus();
    ASSIGN_OR_RETURN(auto server, ConnectionToObjects(flags_, objects_, clock_)());
    askers_ = std::make_unique<HpaAskers>(std::move(server), clock_,
                                          [this] { return objects_.directory->mapper(); });
    return absl::OkStatus();
  }

  // What kubelets say of nodes and pods; nullptr: they are not asked.
  std::shared_ptr<adapter::ResourceMetricsProvider> KubeletMetrics() {
    if (live_ == nullptr || live_->kubelets() == nullptr) return nullptr;
    return std::make_shared<kubelet::KubeletProvider>(*live_->kubelets(), *objects_.directory);
  }

  void SetRules(RulesPtr rules) {
    WarnOfSources(*rules);
    // Before the adapter asks for them.
    if (live_ != nullptr) live_->SetRules(*rules);
    adapter_->SetRules(std::move(rules));
  }

  // Names the rules that want a source which this server lacks; the existing one answers them.
  void WarnOfSources(const rules::CompiledRules& rules) const {
    if (rules.resource && live_ != nullptr && live_->kubelets() != nullptr) {
      spdlog::warn("--live-scrape-kubelets: metrics.k8s.io is that of the file's resourceRules");
    }
    for (const auto* list : {&rules.custom, &rules.external}) {
      for (const auto& rule : *list) {
        const bool no_live = rule->source == rules::SourceChoice::kLive && live_ == nullptr;
        const bool no_prometheus =
            rule->source == rules::SourceChoice::kPrometheus && !flags_.live.prometheus();
        if (!no_live && !no_prometheus) continue;
        spdlog::warn("{}: the rule's source is {}, and --metric-source is {}, which answers it",
                     rule->where, no_live ? "live" : "prometheus", flags_.live.metric_source);
      }
    }
  }

  void TellStart() {
    const BuildInfo& build = ThisBuild();
    prometheus::BuildGauge()
        .Name("flyball_build_info")
        .Help("Always 1; its labels say which program this is.")
        .Register(*metrics_)
        .Add({{"version", build.version}, {"commit", build.commit}})
        .Set(1);
    std::vector<std::string> sources;
    if (flags_.live.live()) sources.push_back("samples in memory");
    for (const std::string& url : flags_.prometheus_urls) {
      if (!flags_.live.prometheus()) break;
      sources.push_back(
          absl::StrCat("Prometheus at ", adapter::prometheus::SplitServerUrl(url).shown));
    }
    spdlog::info(
        "flyball {}; {}: {}; {}; {}", ShownBuild(), flags_.config,
        CountedRules(*rule_file_->Rules()), absl::StrJoin(sources, ", "),
        flags_.scaler.enabled ? absl::StrCat("scaler in mode ", flags_.scaler.mode) : "no scaler");
  }

  // Warns of differences from prometheus-adapter that nothing else would show.
  void TellDifferences() const {
    if (flags_.live.prometheus() && flags_.prometheus_urls.size() > 1) {
      spdlog::info(
          "--prometheus-url is given {} times: the servers are tried in order; prometheus-adapter "
          "asks the last one alone",
          flags_.prometheus_urls.size());
    }
    if (const auto proxies = IgnoredProxyVariables(); !proxies.empty()) {
      spdlog::warn("no proxies are used: {} without effect", absl::StrJoin(proxies, ", "));
    }
  }

  absl::Status CheckMaxAge() const {
    if (!rule_file_->Rules()->custom.empty() &&
        flags_.adapter.relist.max_age < flags_.adapter.relist.interval) {
      return absl::InvalidArgumentError(
          "--metrics-max-age must not be less than --metrics-relist-interval");
    }
    return absl::OkStatus();
  }

  absl::Status MakeServer(apiservice::ServerOptions options) {
    apiservice::ServerDependencies dependencies(clock_);
    dependencies.providers = [this] {
      return scaler_ == nullptr ? adapter_->providers()
                                : scaler_->WithAdvice(adapter_->providers());
    };
    const Reviewers reviewers = ReviewersOf(flags_);
    if (reviewers.authentication) {
      ASSIGN_OR_RETURN(dependencies.authentication,
                       MakeClusterTransport(flags_.authentication_kubeconfig,
                                            "--authentication-kubeconfig", clock_));
    }
    if (reviewers.authorization) {
      ASSIGN_OR_RETURN(authorization_, MakeClusterTransport(flags_.authorization_kubeconfig,
                                                            "--authorization-kubeconfig", clock_));
      dependencies.authorization = authorization_.get();
    }
    dependencies.metrics.push_back(metrics_);
    if (live_ != nullptr) {
      dependencies.metrics.push_back(live_->metrics());
      dependencies.pages = live_->pages();
    }
    if (scaler_ != nullptr) {
      dependencies.metrics.push_back(scaler_->metrics());
      dependencies.more_metrics = [this](std::string& text) { scaler_->AppendGauges(text); };
      dependencies.debug_decisions = [this](const apiservice::DebugParameter& parameter) {
        return scaler_->DebugDecisions(parameter);
      };
    }
    dependencies.objects_known = [this] { return objects_.directory->Kept(); };
    dependencies.checks = Checks();
    dependencies.debug_rules = [this] {
      return DebugRulesJson({.rules = adapter_->RuleStatuses(),
                             .last_reload = rule_file_->LastReload(),
                             .servers = adapter_metrics_.ServerOutcomes(),
                             .version = ShownBuild(),
                             .relisted = adapter_->ready()});
    };
    ASSIGN_OR_RETURN(server_,
                     apiservice::ApiServer::Create(std::move(options), std::move(dependencies)));
    return absl::OkStatus();
  }

  std::vector<apiservice::HealthCheck> Checks() {
    std::vector<apiservice::HealthCheck> checks;
    checks.push_back({.name = "object-discovery", .check = [this] { return objects_.ready(); }});
    checks.push_back({.name = "first-relist", .check = [this] {
                        return adapter_->ready()
                                   ? absl::OkStatus()
                                   : absl::UnavailableError("series have not been asked for yet");
                      }});
    if (scaler_ != nullptr) {
      checks.push_back({.name = "scaler", .check = [this] { return scaler_->Ready(); }});
    }
    checks.push_back({.name = "rule-file",
                      .check = [this] { return rule_file_->LastReload(); },
                      .warning_only = true});
    if (live_ != nullptr) {
      checks.push_back({.name = "scrape-config",
                        .check = [this] { return live_->LastScrapeReload(); },
                        .warning_only = true});
    }
    return checks;
  }

  const ServeFlags flags_;
  Clock& clock_;
  std::shared_ptr<prometheus::Registry> metrics_;
  adapter::AdapterMetrics adapter_metrics_;
  std::unique_ptr<RuleFile> rule_file_;
  Objects objects_;
  // One of the two is the source, or both are; the live one may fetch past samples from the other.
  std::unique_ptr<adapter::prometheus::Client> prometheus_;
  std::unique_ptr<LiveSource> live_;
  std::unique_ptr<adapter::ChoosingSource> choosing_;  // of both
  std::unique_ptr<HpaAskers> askers_;                  // of a cluster
  std::unique_ptr<adapter::Adapter> adapter_;
  std::unique_ptr<ServeScaler> scaler_;
  std::unique_ptr<http::HttpTransport> authorization_;
  std::unique_ptr<apiservice::ApiServer> server_;

  std::shared_ptr<const kube::RestMapper> checked_mapper_;
  RulesPtr checked_rules_;
  std::set<std::string> warned_;
  bool told_prometheus_ = false;
};

sigset_t HandledSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, number);
  return signals;
}

// The next of `signals` within a second, or 0.
int NextSignal(const sigset_t& signals) {
  const timespec timeout = {.tv_sec = 1, .tv_nsec = 0};
  const int number = sigtimedwait(&signals, nullptr, &timeout);
  return number > 0 ? number : 0;
}

// Makes glibc return the memory of large answers to the system when they are freed. By itself its
// threshold grows to the largest block that was ever freed, up to 32 MiB, and each thread's heap
// then keeps as much.
void ReturnLargeBlocks() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  mallopt(M_TRIM_THRESHOLD, 4 << 20);
#endif
}

// Returns memory to the system that a burst of requests leaves free in pieces, which glibc does not
// do by itself. Memory that was returned counts again only after it was used and freed.
class FreeMemory {
 public:
  // To be called each second. Looks each tenth time, as counting what is free takes time that grows
  // with the pieces: 7 ms with 100,000 pods. A burst that makes the process grow, or has left
  // something to return, is looked after each second: what is free in a heap may be of no use to
  // the next request, which is served with another one. Ten attacks at once
  // (hostile_test.py) left the process with 74 MiB for up to ten seconds; of these 27 are in use.
  void GiveBack() {
#ifdef __GLIBC__
    const bool burst = returned_ || ResidentBytes() >= resident_ + kMuchGrowth;
    if (++calls_ % kCallsBetweenLooks != 0 && !burst) return;
    const size_t free = mallinfo2().fordblks;
    given_back_ = std::min(given_back_, free);
    returned_ = free - given_back_ >= kWorthIt;
    if (returned_) {
      ReturnFreeMemory();
      given_back_ = mallinfo2().fordblks;
    }
    resident_ = ResidentBytes();
#endif
  }

 private:
  static constexpr size_t kWorthIt = 4 << 20;
  static constexpr size_t kMuchGrowth = 16 << 20;
  static constexpr uint32_t kCallsBetweenLooks = 10;

  static size_t ResidentBytes() {
    size_t all = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> all >> resident;
    return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  }

  uint32_t calls_ = 0;
  size_t given_back_ = 0;
  size_t resident_ = 0;    // after the last look...
  bool returned_ = false;  // ...which had something to return
};

}  // namespace

int Serve(ServeFlags flags, Clock& clock) {
  ReturnLargeBlocks();
  // Before any thread starts, so that all of them leave these signals to this one.
  const sigset_t signals = HandledSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);

  auto service = std::make_unique<Service>(std::move(flags), clock);
  if (absl::Status status = UnlessNoThread([&] { return service->Start(); }); !status.ok()) {
    LogErrorLines(absl::StrCat("cannot start: ", status.message()));
    return kStartError;
  }
  FreeMemory free_memory;
  for (;;) {
    const int number = NextSignal(signals);
    free_memory.GiveBack();
    if (number == SIGHUP) {
      service->Reload();
    } else if (number != 0) {
      spdlog::info("signal {}: finishing the requests under way", number);
      break;
    }
    service->WarnOfUnknownResources();
    service->TellPrometheus();
  }
  // A second signal ends the process at once.
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGINT, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  service.reset();
  spdlog::info("stopped");
  return 0;
}

}  // namespace flyball::serve
