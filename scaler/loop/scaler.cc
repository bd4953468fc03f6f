#include "scaler/loop/scaler.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "base/thread_limit.h"
#include "kube/objects/builtin_resources.h"
#include "scaler/loop/loop_wiring.h"
#include "scaler/spec/own_spec.h"
#include "scaler/triggers/parts/clients.h"
#include "spdlog/spdlog.h"

namespace flyball::scaler {
namespace {

// The four additional threads are for triggers that ask nothing outside the process.
constexpr int kTriggerThreads = kTriggerLanes.threads + 4;
constexpr int kStatusThreads = 2;
// How long a stop waits for the statuses that were not written yet.
constexpr absl::Duration kLastStatuses = absl::Seconds(1);
// The due thread waits between these two limits from one Turn to the next, unless it is woken.
constexpr absl::Duration kLongestNap = absl::Milliseconds(250);
constexpr absl::Duration kShortestNap = absl::Milliseconds(20);
// How long it waits while the version of the cluster is not known.
constexpr absl::Duration kVersionNap = absl::Milliseconds(50);
// How often the API server is asked for its version: until it has answered once, and then again and
// again, since an upgrade changes it.
constexpr absl::Duration kFirstVersion = absl::Seconds(2);
constexpr absl::Duration kNextVersion = absl::Seconds(30);

QuestionBoard::Run RunIn(const std::unique_ptr<WorkerPool>& pool) {
  return [&pool](std::function<void()> task) { pool->Submit(std::move(task)); };
}

}  // namespace

Scaler::Scaler(const Deps& deps, ScalerOptions options)
    : deps_(deps),
      options_(std::move(options)),
      due_(deps_.clock, [this] { return TellDue(); }),
      version_(deps_.clock, [this] { return AskVersion(); }),
      version_known_(options_.dialect.minor.has_value()),
      trigger_clients_(std::make_shared<TriggerClients>(
          deps.clock, TriggerClientOptions{.addresses = options_.trigger_addresses, .dns = {}})) {}

Scaler::~Scaler() {
  Stop();
  // A start that failed may have left threads, which use members.
  if (client_ != nullptr) client_->Shutdown();
  if (server_ != nullptr) server_->Shutdown();
  due_.Stop();
  version_.Stop();
}

absl::Status Scaler::Start() {
  ASSIGN_OR_RETURN(server_, deps_.make_transport());
  client_ = std::make_unique<kube::ApiClient>(*server_, deps_.clock, options_.request_timeout);
  budget_ = std::make_unique<kube::RequestBudget>(deps_.clock, options_.writes_per_second,
                                                  options_.write_burst);
  hpa_events_ =
      std::make_unique<kube::EventRecorder>(*client_, deps_.clock, "horizontal-pod-autoscaler");
  own_events_ = std::make_unique<kube::EventRecorder>(*client_, deps_.clock, "flyball");
  MakeLoop();
  StartWatches();
  if (!version_known_) version_.Start(absl::ZeroDuration());
  due_.Start(kShortestNap);
  absl::MutexLock lock(&running_mutex_);
  running_ = true;
  return absl::OkStatus();
}

void Scaler::MakeLoop() {
  reads_ = std::make_unique<WorkerPool>(options_.read_threads);
  triggers_ = std::make_unique<WorkerPool>(kTriggerThreads);
  decisions_ = std::make_unique<WorkerPool>(options_.decide_threads);
  writes_ = std::make_unique<WorkerPool>(options_.write_threads);
  wiring_ = std::make_unique<LoopWiring>(
      LoopDependencies{
          .client = *client_,
          .budget = *budget_,
          .hpa_events = *hpa_events_,
          .own_events = *own_events_,
          .directory = deps_.directory,
          .pod_followers = deps_.pod_followers,
          .providers = deps_.providers,
          .clock = deps_.clock,
          .ownership = deps_.ownership,
          .observers = deps_.observers,
          .trigger_clients = trigger_clients_,
          .front = deps_.front,
          .stalls = deps_.stalls,
          .start_watch = [this](const kube::ResourceInfo& resource, const std::string& ns,
                                kube::WatchHandler& handler) { StartWatch(resource, ns, handler); },
          .run_reads = RunIn(reads_),
          .run_triggers = RunIn(triggers_),
          .run_decisions = RunIn(decisions_),
          .run_writes = RunIn(writes_),
          .status_threads = kStatusThreads,
          .wake_up = [this] { due_.Wake(); }},
      options_);
}

std::unique_ptr<kube::ObjectWatch> Scaler::MakeWatch(const kube::ResourceInfo& resource,
                                                     const std::string& ns,
                                                     kube::WatchHandler& handler) {
  const auto make = [&]() -> absl::StatusOr<std::unique_ptr<kube::ObjectWatch>> {
    kube::ObjectWatchOptions watch;
    watch.resource = resource;
    watch.ns = ns;
    // The cache of an API server may be behind for seconds, and a list does not show it. A write
    // for an autoscaler that was paused or deleted before this start would go through, since it
    // depends on the version of the scale alone; and a removal by an earlier owner would be missing
    // in the count that is compared with what that one saved. Pods come from the cache, as for the
    // original: there may be a hundred thousand, which an API server with an older etcd than 3.4.31
    // would read from there.
    watch.begins_current = resource.name.resource != "pods";
    ASSIGN_OR_RETURN(std::unique_ptr<http::HttpTransport> server, deps_.make_transport());
    return UnlessNoThread([&] {
      return std::make_unique<kube::ObjectWatch>(std::move(watch), std::move(server), deps_.clock,
                                                 handler);
    });
  };
  absl::StatusOr<std::unique_ptr<kube::ObjectWatch>> made = make();
  if (made.ok()) return *std::move(made);
  spdlog::error("scaler: no watch of {}: {}", resource.name.ToString(),
                std::string(made.status().message()));
  handler.StatusChanged(made.status());
  return nullptr;
}

void Scaler::StartWatch(const kube::ResourceInfo& resource, const std::string& ns,
                        kube::WatchHandler& handler) {
  std::unique_ptr<kube::ObjectWatch> watch = MakeWatch(resource, ns, handler);
  absl::MutexLock lock(&mutex_);
  watches_.push_back(std::move(watch));
}

void Scaler::StartWatches() {
  std::vector<std::string> namespaces = options_.namespaces;
  if (namespaces.empty()) namespaces.push_back("");
  // All feeds are added before the first watch begins: a store takes no new feed while it is fed.
  std::vector<std::pair<kube::ResourceInfo, kube::WatchHandler*>> feeds;
  std::vector<std::string> spaces;
  for (const std::string& ns : namespaces) {
    feeds.emplace_back(kube::ResourceNamed("", "v1", "pods", "Pod"), &wiring_->pods().AddFeed(ns));
    feeds.emplace_back(kube::ResourceNamed("autoscaling", "v2", "horizontalpodautoscalers",
                                           "HorizontalPodAutoscaler"),
                       &wiring_->autoscalers().AddFeed(AutoscalerKind::kHpa, ns));
    feeds.emplace_back(kube::ResourceNamed(kOwnGroup, kOwnVersion, kOwnPlural, kOwnKind),
                       &wiring_->autoscalers().AddFeed(AutoscalerKind::kOwn, ns));
    spaces.insert(spaces.end(), 3, ns);
  }
  for (size_t i = 0; i < feeds.size(); ++i) {
    const auto& [resource, handler] = feeds[i];
    if (deps_.pod_followers != nullptr && resource.kind == "Pod") {
      followed_watch_ = MakeWatch(resource, spaces[i], *handler);
    } else {
      StartWatch(resource, spaces[i], *handler);
    }
  }
}

absl::Duration Scaler::AskVersion() {
  const absl::StatusOr<std::string> answer = client_->Get("/version");
  const absl::StatusOr<ServerVersion> version =
      answer.ok() ? ParseServerVersion(*answer) : answer.status();
  const std::string failure(version.status().message());
  if (std::exchange(version_failure_, failure) != failure && !failure.empty()) {
    spdlog::warn("scaler: the cluster's version {}: {}",
                 version_known_ ? "cannot be read again" : "is not known", failure);
  }
  if (!version.ok()) return version_known_ ? kNextVersion : kFirstVersion;
  const MathConfigsPtr before = wiring_->configs();
  wiring_->UseVersion(*version);
  const MathConfigsPtr now = wiring_->configs();
  if (!version_known_ || now != before) {
    spdlog::info("scaler: decides as the controller of Kubernetes {}", DialectText(now->dialect));
  }
  version_known_ = true;
  return kNextVersion;
}

// The pauses count from before the call, so that what becomes due during the call is not late.
RepeatingThread::Next Scaler::TellDue() {
  const MonotonicTime now = deps_.clock.MonotonicNow();
  if (!version_known_) return {now + kVersionNap};
  return {std::clamp(wiring_->Turn(), now + kShortestNap, now + kLongestNap)};
}

// First no new cycles begin, then the watches and the pools stop. Work under way ends first.
void Scaler::Stop() {
  {
    absl::MutexLock lock(&running_mutex_);
    if (!std::exchange(running_, false)) return;
  }
  due_.Stop();
  version_.BeginStop();
  std::vector<std::unique_ptr<kube::ObjectWatch>> watches;
  {
    absl::MutexLock lock(&mutex_);
    watches.swap(watches_);
  }
  watches.clear();
  deps_.ownership.OnChange(nullptr);
  wiring_->statuses().Flush(kLastStatuses);
  budget_->Shutdown();
  client_->Shutdown();
  version_.Stop();
  trigger_clients_->Shutdown();
  wiring_->read_lanes().Stop();
  wiring_->trigger_lanes().Stop();
  wiring_->write_lanes().Stop();
  // Stopped, not destroyed: a task that ends in one pool may submit another to the next.
  for (const auto& pool : {&reads_, &triggers_, &decisions_, &writes_}) (*pool)->Stop();
  wiring_->EndStatuses();
  hpa_events_.reset();
  own_events_.reset();
  server_->Shutdown();
}

absl::Status Scaler::Ready() const {
  absl::ReaderMutexLock lock(&running_mutex_);
  if (!running_) return absl::UnavailableError("the scaler is not started");
  if (!version_known_) return absl::UnavailableError("the cluster's version is not known yet");
  return wiring_->Ready();
}

Scaler::Stats Scaler::stats() const {
  Stats stats;
  absl::ReaderMutexLock lock(&running_mutex_);
  if (!running_) return stats;
  const Loop::Stats loop = wiring_->loop().stats();
  const ActStep& act = wiring_->act();
  const StatusWriter& statuses = wiring_->statuses();
  stats.autoscalers = loop.autoscalers;
  stats.owned = loop.owned;
  stats.steady = loop.steady;
  stats.pods = wiring_->pods().size();
  stats.queue = loop.busy + statuses.queued();
  stats.decisions = loop.decisions;
  stats.unchanged = loop.unchanged;
  stats.scale_writes = act.written();
  stats.status_writes = statuses.written();
  stats.conflicts = act.conflicts() + statuses.conflicts();
  const kube::ApiClient::Counters& calls = client_->counters();
  stats.api_calls = calls.gets + calls.creates + calls.updates + calls.patches;
  return stats;
}

}  // namespace flyball::scaler
