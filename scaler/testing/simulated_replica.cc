#include "scaler/testing/simulated_replica.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kube/objects/builtin_resources.h"
#include "nlohmann/json.hpp"
#include "scaler/spec/own_spec.h"
#include "scaler/testing/judge.h"
#include "scaler/triggers/parts/clients.h"

namespace flyball::scaler {
namespace {

// The program's due thread naps that long at least.
constexpr absl::Duration kShortestNap = absl::Milliseconds(20);
constexpr absl::Duration kPoll = absl::Milliseconds(10);
constexpr absl::Duration kRetryAfter = absl::Seconds(1);
// What a watch has missed comes with pauses shorter than that, for that long.
constexpr absl::Duration kLongestPause = absl::Milliseconds(900);
constexpr absl::Duration kLongestBacklog = absl::Seconds(5);
// Within this time after a thaw all threads go on.
constexpr absl::Duration kThaw = absl::Milliseconds(50);

http::HttpAnswer Failure(int status, absl::string_view reason) {
  return {
      .status = status,
      .headers = {},
      .body = absl::StrCat(R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":")",
                           reason, R"(","reason":")", reason, R"(","code":)", status, "}")};
}

http::HttpAnswer TryAgain(int status, absl::string_view reason) {
  http::HttpAnswer answer = Failure(status, reason);
  answer.headers = {{"Retry-After", absl::StrCat(absl::ToInt64Seconds(kRetryAfter))}};
  return answer;
}

std::string CollectionPathOf(const kube::ResourceInfo& resource) {
  return kube::ObjectPath(resource.name.group, resource.version, "", resource.name.resource, "");
}

// Of the object in a body; "" if there is none.
std::string NameIn(const std::string& body) {
  const nlohmann::json object = nlohmann::json::parse(body, nullptr, false);
  return object.is_object() ? object.at("metadata").value("name", "") : "";
}

}  // namespace

bool SimulatedReplica::MachineClock::Await(absl::Mutex& mutex, const absl::Condition& condition,
                                           MonotonicTime deadline) {
  while (!condition.Eval() && MonotonicNow() < deadline) {
    mutex.Unlock();
    time->Sleep(kPoll);
    replica.WaitWhileFrozen();
    mutex.Lock();
  }
  return condition.Eval();
}

absl::Duration SimulatedReplica::Way(const SimulatedNetwork& network) {
  return world_.chance.Is(network.slow) ? world_.chance.UpTo(network.slow_delay)
                                        : absl::ZeroDuration();
}

template <typename Answer, typename Serve>
absl::StatusOr<Answer> SimulatedReplica::Call(const SimulatedNetwork& network,
                                              absl::Duration timeout, const Serve& serve) {
  if (!alive()) return absl::CancelledError("the process is gone");
  const absl::Duration there = Way(network);
  // The connection is cut at the end of the timeout: nothing arrives after that.
  if (there > absl::ZeroDuration()) world_.time.Sleep(std::min(there, timeout));
  // Killed on the way there: the request may have left already.
  const bool has_effect = killed_ ? world_.chance.Is(0.5) : !world_.chance.Is(network.refused);
  if (!has_effect) return absl::UnavailableError("connection refused");
  if (there > timeout && world_.chance.Is(0.5)) return absl::DeadlineExceededError("no answer");
  if (world_.chance.Is(network.repeated)) (void)serve();
  Answer answer = serve();
  if (there > timeout) return absl::DeadlineExceededError("no answer in time");
  const absl::Duration back = Way(network);
  const bool late = there + back > timeout || world_.chance.Is(network.lost);
  const absl::Duration wait = late ? timeout - there : back;
  if (wait > absl::ZeroDuration()) world_.time.Sleep(wait);
  WaitWhileFrozen();
  if (killed_) return absl::CancelledError("the process is gone");
  if (late) return absl::DeadlineExceededError("no answer in time");
  return answer;
}

// ---- the API server ---------------------------------------------------------------------------

class SimulatedReplica::Transport : public http::HttpTransport {
 public:
  explicit Transport(SimulatedReplica& replica) : replica_(replica) {}

  absl::StatusOr<http::HttpAnswer> Do(const http::HttpCall& call) override {
    SimulatedReplica& self = replica_;
    if (self.refuses && self.refuses(call)) return absl::UnavailableError("connection refused");
    absl::Duration sent = self.world_.time.now();
    const bool scales = call.method == "PUT" && absl::EndsWith(call.target, "/scale");
    const bool saves = call.method != "GET" && absl::StrContains(call.target, "/configmaps");
    const SentWrite write = scales ? self.Write() : SentWrite();
    // The client sends again what was throttled: what is saved is as old as the first try.
    const std::string request = absl::StrCat(call.method, " ", call.target);
    if (const auto before = throttled_.find(request); saves && before != throttled_.end()) {
      if (sent - before->second.answered >= kRetryAfter &&
          sent - before->second.sent < self.options_.scaler.request_timeout) {
        sent = before->second.sent;
      }
    }
    return self.Call<http::HttpAnswer>(self.network, call.timeout, [&] {
      if (self.world_.chance.Is(self.network.throttled)) {
        throttled_[request] = {.sent = sent, .answered = self.world_.time.now()};
        return TryAgain(429, "TooManyRequests");
      }
      throttled_.erase(request);
      if (self.network.failing_late == 0 && self.network.forbidden > 0) {
        --self.network.forbidden;
        return Failure(403, "Forbidden");
      }
      // Several may be on their way: the one that arrives now is judged.
      if (scales) self.last_write_ = write;
      if (call.method == "GET" && absl::StrContains(call.target, "autoscalers/")) {
        self.asked_[call.target] = self.world_.time.now();
      }
      http::HttpAnswer answer = self.world_.cluster.Serve(call, self.options_.index);
      if (saves && answer.status < 300) self.last_saved_[NameIn(call.body)] = sent;
      if (self.network.failing_late > 0) {
        --self.network.failing_late;
        return TryAgain(500, "ServerTimeout");
      }
      return answer;
    });
  }
  absl::Status Stream(const http::HttpCall&,
                      const std::function<bool(absl::string_view)>&) override {
    return absl::UnimplementedError("watches are simulated");
  }
  void Shutdown() override {}

 private:
  SimulatedReplica& replica_;
  struct Throttled {
    absl::Duration sent;      // for the first time
    absl::Duration answered;  // for the last time
  };
  std::map<std::string, Throttled> throttled_;
};

class SimulatedReplica::Leases : public LeaseStore {
 public:
  explicit Leases(SimulatedReplica& replica) : replica_(replica) {}

  absl::StatusOr<kube::Lease> Get(absl::string_view name) override {
    return Serve([&]() -> absl::StatusOr<kube::Lease> {
      const auto found = replica_.world_.leases.find(name);
      if (found == replica_.world_.leases.end()) return absl::NotFoundError("not found");
      return found->second;
    });
  }
  absl::StatusOr<kube::Lease> Put(const kube::Lease& lease) override {
    return Serve([&]() -> absl::StatusOr<kube::Lease> {
      SimulatedLeases& leases = replica_.world_.leases;
      const auto found = leases.find(lease.name);
      if (lease.resource_version.empty() != (found == leases.end())) {
        return lease.resource_version.empty()
                   ? absl::StatusOr<kube::Lease>(absl::AlreadyExistsError("exists"))
                   : absl::StatusOr<kube::Lease>(absl::NotFoundError("gone"));
      }
      if (found != leases.end() && found->second.resource_version != lease.resource_version) {
        return absl::AbortedError("conflict");
      }
      kube::Lease& stored = leases[lease.name];
      const uint64_t version =
          lease.resource_version.empty() ? 0 : std::stoull(lease.resource_version);
      stored = lease;
      stored.resource_version = absl::StrCat(version + 1);
      return stored;
    });
  }

 private:
  template <typename F>
  absl::StatusOr<kube::Lease> Serve(const F& serve) {
    using Answer = absl::StatusOr<kube::Lease>;
    absl::StatusOr<Answer> answer =
        replica_.Call<Answer>(replica_.network, absl::Seconds(5), serve);
    return answer.ok() ? *std::move(answer) : answer.status();
  }

  SimulatedReplica& replica_;
};

// ---- metrics ----------------------------------------------------------------------------------

class SimulatedReplica::External : public adapter::ExternalMetricsProvider {
 public:
  explicit External(SimulatedReplica& replica) : replica_(replica) {}

  absl::StatusOr<adapter::ExternalMetricList> Get(
      const adapter::ExternalMetricRequest& request) override {
    const SimulatedCluster::Amount amount = Ask(request.ns, request.metric);
    if (!amount.has_value()) return absl::InternalError("unable to fetch metrics");
    adapter::ExternalMetricList list;
    list.metric = request.metric;
    list.items.push_back(
        {.labels = {}, .timestamp = replica_.clock_.WallNow(), .value_milli = *amount});
    return list;
  }
  std::unique_ptr<adapter::StandingExternal> Stand(
      std::vector<adapter::ExternalMetricRequest> requests) override {
    return std::make_unique<Standing>(*this, std::move(requests));
  }
  std::shared_ptr<const std::vector<std::string>> ListAll() const override {
    return std::make_shared<const std::vector<std::string>>();
  }
  uint64_t Epoch() const override { return 1; }

 private:
  // Says "unchanged" where it can.
  class Standing : public adapter::StandingExternal {
   public:
    using Answer = adapter::StandingAnswer<adapter::ExternalMetricList>;
    Standing(External& provider, std::vector<adapter::ExternalMetricRequest> requests)
        : provider_(provider), requests_(std::move(requests)), last_(requests_.size()) {}

    std::vector<absl::StatusOr<Answer>> Ask(absl::Duration) override {
      std::vector<absl::StatusOr<Answer>> answers;
      for (size_t i = 0; i < requests_.size(); ++i) {
        absl::StatusOr<adapter::ExternalMetricList> list = provider_.Get(requests_[i]);
        const std::optional<int64_t> before = std::exchange(last_[i], std::nullopt);
        if (!list.ok()) {
          answers.push_back(list.status());
          continue;
        }
        last_[i] = list->items[0].value_milli;
        Answer answer{.unchanged = last_[i] == before, .time = list->items[0].timestamp};
        if (!answer.unchanged) answer.list = *std::move(list);
        answers.push_back(std::move(answer));
      }
      return answers;
    }

   private:
    External& provider_;
    const std::vector<adapter::ExternalMetricRequest> requests_;
    std::vector<std::optional<int64_t>> last_;
  };

  // Of the metric `a-web` in `ns`: that of the target `web`.
  SimulatedCluster::Amount Ask(const std::string& ns, const std::string& metric) {
    return replica_
        .Call<SimulatedCluster::Amount>(
            replica_.metrics_network, absl::Seconds(10),
            [&] {
              const Past<SimulatedCluster::Amount>& past =
                  replica_.world_.cluster.AmountOf({ns, metric.substr(2)}, metric);
              return past.empty() ? SimulatedCluster::Amount() : past.latest();
            })
        .value_or(std::nullopt);
  }

  SimulatedReplica& replica_;
};

class SimulatedReplica::Resource : public adapter::ResourceMetricsProvider {
 public:
  explicit Resource(SimulatedReplica& replica) : replica_(replica) {}

  absl::StatusOr<adapter::ResourceMetricList<adapter::PodMetrics>> Pods(
      absl::string_view ns, absl::string_view, const adapter::ObjectFilter& filter,
      absl::Duration) override {
    using List = adapter::ResourceMetricList<adapter::PodMetrics>;
    return replica_.Call<List>(replica_.metrics_network, absl::Seconds(10), [&] {
      List list;
      for (const auto& [target, pods] : replica_.world_.cluster.AllPods()) {
        if (target.first != ns || !filter.labels.Matches({{"app", target.second}})) continue;
        const SimulatedCluster::Amount cpu = Now(target, "cpu");
        const SimulatedCluster::Amount memory = Now(target, "memory");
        if (!cpu.has_value() || !memory.has_value()) continue;
        for (const SimulatedPod& pod : pods.latest()) {
          if (!pod.ready) continue;
          auto meta = std::make_shared<kube::ObjectMeta>();
          meta->ns = target.first;
          meta->name = pod.name;
          list.items.push_back(
              {.pod = meta,
               .timestamp = replica_.clock_.WallNow(),
               .window = absl::Seconds(30),
               .containers = {{"app", {.cpu_milli = *cpu, .memory_milli = *memory}}}});
        }
      }
      return list;
    });
  }
  absl::StatusOr<adapter::ResourceMetricList<adapter::NodeMetrics>> Nodes(
      absl::string_view, const adapter::ObjectFilter&, absl::Duration) override {
    return adapter::ResourceMetricList<adapter::NodeMetrics>();
  }
  uint64_t Epoch() const override { return 1; }

 private:
  SimulatedCluster::Amount Now(const SimulatedCluster::Target& target,
                               absl::string_view resource) const {
    const Past<SimulatedCluster::Amount>& past = replica_.world_.cluster.AmountOf(target, resource);
    return past.empty() ? SimulatedCluster::Amount() : past.latest();
  }

  SimulatedReplica& replica_;
};

class SimulatedReplica::Observer : public DecisionObserver {
 public:
  explicit Observer(SimulatedReplica& replica) : replica_(replica) {}
  void OnDecision(const DecisionRecord& record) override {
    if (replica_.alive()) replica_.options_.judge->OnDecision(replica_.options_.index, record);
  }
  void OnSteady(const AutoscalerKey& key, int32_t recommendation,
                const SteadinessPtr& /*steadiness*/) override {
    if (!replica_.alive()) return;
    replica_.options_.judge->OnSteady(replica_.options_.index, key, recommendation);
  }
  void OnRound(const RoundRecord& round) override {
    if (replica_.alive()) replica_.options_.judge->OnRound(replica_.options_.index, round);
  }
  void OnForgotten(const AutoscalerKey& key) override {
    if (replica_.on_forgotten) replica_.on_forgotten(key);
  }

 private:
  SimulatedReplica& replica_;
};

// ---- the replica ------------------------------------------------------------------------------

SimulatedReplica::SimulatedReplica(const SimulatedWorld& world, Options options)
    : world_(world),
      options_(std::move(options)),
      clock_(*this, absl::Seconds(world_.chance.Between(1000, 100000))),
      lateness_(static_cast<uint32_t>(absl::ToInt64Seconds(clock_.offset))),
      thaw_lateness_(static_cast<uint32_t>(absl::ToInt64Seconds(clock_.offset))),
      transport_(std::make_unique<Transport>(*this)),
      client_(*transport_, clock_, options_.scaler.request_timeout),
      lease_client_(*transport_, clock_, absl::Seconds(5)),
      budget_(clock_, 0, 1),
      leases_(std::make_unique<Leases>(*this)),
      state_({.ns = "flyball",
              .shards = options_.election.shards,
              .interval = options_.state_interval},
             lease_client_, clock_),
      election_(options_.election, *leases_, &state_, clock_),
      observer_(std::make_unique<Observer>(*this)),
      providers_{.custom = nullptr,
                 .external = std::make_shared<External>(*this),
                 .resource = std::make_shared<Resource>(*this)} {
  state_.UseFence(
      [this](int shard) { return election_.MayWriteShard(shard, clock_.MonotonicNow()); });
  wiring_ = std::make_unique<LoopWiring>(
      LoopDependencies{
          .client = client_,
          .budget = budget_,
          .hpa_events = no_events_,
          .own_events = no_events_,
          .directory = world_.directory,
          .providers = [this] { return providers_; },
          .clock = clock_,
          .ownership = election_,
          .observers = {observer_.get(), &state_},
          .trigger_clients = std::make_shared<TriggerClients>(clock_),
          .stalls = &stalls_,
          .start_watch = [this](const kube::ResourceInfo& resource, const std::string&,
                                kube::WatchHandler& handler) { StartWatch(resource, handler); },
          .run_reads = Pool(),
          .run_triggers = Pool(),
          .run_decisions = Pool(),
          .run_writes = Pool(),
          .status_threads = 0,
          .wake_up = [this] { TurnAt(world_.time.now()); }},
      options_.scaler);
}

SimulatedReplica::~SimulatedReplica() { killed_ = true; }

void SimulatedReplica::Start() {
  StartWatch(kube::ResourceNamed("", "v1", "pods", ""), wiring_->pods().AddFeed(""));
  StartWatch(kube::ResourceNamed("autoscaling", "v2", "horizontalpodautoscalers", ""),
             wiring_->autoscalers().AddFeed(AutoscalerKind::kHpa, ""));
  StartWatch(kube::ResourceNamed(kOwnGroup, kOwnVersion, kOwnPlural, ""),
             wiring_->autoscalers().AddFeed(AutoscalerKind::kOwn, ""));
  TurnAt(world_.time.now());
  world_.time.Soon([this] { Round(); });
  world_.time.Soon([this] { WriteState(); });
  world_.time.Soon([this] { Beat(); });
}

void SimulatedReplica::Stop() {
  if (stopping_ || !alive()) return;
  stopping_ = true;
  world_.time.Soon([this] {
    while ((tasks_ > 0 || in_round_) && alive()) world_.time.Sleep(kPoll);
    WaitWhileFrozen();
    if (alive()) election_.Stop();
    ended_ = true;
  });
}

void SimulatedReplica::Freeze() {
  if (!std::exchange(frozen_, true)) frozen_at_ = world_.time.now();
}

void SimulatedReplica::Thaw() {
  if (!std::exchange(frozen_, false)) return;
  const bool noticed = world_.time.now() - frozen_at_ > StallDetector::kStall;
  for (auto& [name, watch] : watches_) {
    if (noticed) {
      watch.unread_since.reset();
    } else if (!watch.unread_since.has_value()) {
      watch.unread_since = frozen_at_;
    }
    world_.time.At(world_.time.now() + thaw_lateness_.UpTo(kThaw), [this, &one = watch] {
      if (frozen_ || !alive()) return;
      one.unread_since.reset();
      NoticeEnd(one);
      if (!one.behind) Pump(one);
    });
  }
}

absl::Duration SimulatedReplica::last_saved(const AutoscalerKey& key) const {
  const int shard = ShardOf(key, options_.election.shards);
  const auto found = last_saved_.find(absl::StrCat(StateStoreOptions().prefix, "-", shard));
  return found == last_saved_.end() ? absl::ZeroDuration() : found->second;
}

void SimulatedReplica::WaitWhileFrozen(Chance& chance) {
  if (!frozen_) return;
  while (frozen_ && alive()) world_.time.Sleep(kPoll);
  world_.time.Sleep(chance.UpTo(kThaw));
}

bool SimulatedReplica::MayWrite(const AutoscalerKey& key) const {
  return alive() && election_.MayWrite(key, clock_.MonotonicNow());
}

QuestionBoard::Run SimulatedReplica::Pool() {
  return [this](std::function<void()> task) {
    if (!alive() || stopping_) return;
    ++tasks_;
    const absl::Duration wait = longest_queue > absl::ZeroDuration() && world_.chance.Is(0.3)
                                    ? world_.chance.UpTo(longest_queue)
                                    : absl::ZeroDuration();
    world_.time.At(world_.time.now() + wait, [this, task = std::move(task)] {
      WaitWhileFrozen();
      if (alive()) task();
      --tasks_;
    });
  };
}

void SimulatedReplica::TurnAt(absl::Duration when) {
  if (turn_at_ <= when) return;
  turn_at_ = when;
  world_.time.At(when, [this, when] {
    if (turn_at_ != when) return;  // there was an earlier one
    WaitWhileFrozen();
    turn_at_ = absl::InfiniteDuration();
    if (!alive() || stopping_) return;
    const MonotonicTime next = wiring_->Turn();
    TurnAt(std::max(next - clock_.offset, world_.time.now() + kShortestNap));
    Pool()([this] {
      while (alive() && wiring_->statuses().WriteNext()) {
      }
    });
  });
}

void SimulatedReplica::Round() {
  WaitWhileFrozen();
  if (!alive() || stopping_) return;
  in_round_ = true;
  const absl::Duration wait = election_.Round();
  in_round_ = false;
  world_.time.At(world_.time.now() + wait, [this] { Round(); });
}

void SimulatedReplica::Beat() {
  WaitWhileFrozen(thaw_lateness_);
  if (!alive() || stopping_) return;
  stalls_.Beat(clock_.MonotonicNow());
  world_.time.At(world_.time.now() + StallDetector::kBeat, [this] { Beat(); });
}

void SimulatedReplica::WriteState() {
  WaitWhileFrozen();
  if (!alive() || stopping_) return;
  ++tasks_;
  state_.WriteWhatChanged();
  --tasks_;
  world_.time.At(world_.time.now() + absl::Seconds(1), [this] { WriteState(); });
}

// ---- watches ----------------------------------------------------------------------------------

void SimulatedReplica::StartWatch(const kube::ResourceInfo& resource, kube::WatchHandler& handler) {
  Watch& watch = watches_[resource.name.resource];
  watch.handler = &handler;
  watch.target = world_.cluster.Collection(CollectionPathOf(resource));
  world_.time.Soon([this, &watch] {
    WaitWhileFrozen();
    if (watch.failure.ok()) List(watch);
  });
}

void SimulatedReplica::List(Watch& watch) {
  if (!alive()) return;
  watch.handler->ListStarted();
  for (const auto& object : world_.cluster.store().List(watch.target)) {
    watch.handler->Listed(object->dump());
  }
  watch.handler->ListEnded();
  watch.told = world_.cluster.store().changes().size();
  Open(watch);
}

void SimulatedReplica::Open(Watch& watch) {
  watch.open = true;
  watch.closed = watch.behind = false;
  ++watch.streams;
  watch.handler->Opened();
}

void SimulatedReplica::PumpWatches() {
  if (!alive()) return;
  for (auto& [name, watch] : watches_) {
    if (!watch.open || watch.behind || watch.pumping) continue;
    watch.pumping = true;
    world_.time.Soon([this, &one = watch] {
      one.pumping = false;
      if (!one.behind) Pump(one);
    });
  }
}

void SimulatedReplica::PumpNow() {
  for (auto& [name, watch] : watches_) {
    if (watch.open) Pump(watch);
  }
}

void SimulatedReplica::Pump(Watch& watch) {
  while (TellNext(watch)) {
  }
}

bool SimulatedReplica::TellNext(Watch& watch) {
  return watch.open && TellNextOf(world_.cluster.store().changes().size(), watch);
}

bool SimulatedReplica::TellNextOf(size_t all, Watch& watch) {
  const auto& changes = world_.cluster.store().changes();
  const std::string resource = watch.target.kind->info.name.ToString();
  while (alive() && !frozen_ && watch.told < all) {
    const kube::LocalObjectStore::Change& change = changes[watch.told++];
    if (std::get<0>(change.key) != resource) continue;
    const auto& object = change.after == nullptr ? change.before : change.after;
    watch.handler->Changed(change.after == nullptr    ? kube::ChangeType::kDeleted
                           : change.before == nullptr ? kube::ChangeType::kAdded
                                                      : kube::ChangeType::kModified,
                           object->dump());
    watch.handler->Flushed();
    return true;
  }
  return false;
}

void SimulatedReplica::End(const absl::Status& why, bool was_open, Watch& watch) {
  if (!watch.arrived.has_value()) {
    watch.arrived = frozen_ && was_open ? world_.cluster.store().changes().size() : watch.told;
  }
  watch.end = why;
  if (!frozen_) NoticeEnd(watch);
}

void SimulatedReplica::NoticeEnd(Watch& watch) {
  const std::optional<size_t> arrived = std::exchange(watch.arrived, std::nullopt);
  if (!arrived.has_value()) return;
  while (TellNextOf(*arrived, watch)) {
  }
  watch.noticed = world_.time.now();
  watch.handler->Opening();
  if (!watch.end.ok()) watch.handler->StatusChanged(watch.end);
}

void SimulatedReplica::CatchUp(Watch& watch, absl::Duration until) {
  watch.behind = true;
  const int stream = watch.streams;
  world_.time.At(world_.time.now() + lateness_.UpTo(kLongestPause), [this, &watch, stream, until] {
    WaitWhileFrozen();
    if (!alive() || watch.streams != stream) return;
    if (world_.time.now() < until && TellNext(watch)) return CatchUp(watch, until);
    watch.behind = false;
    Pump(watch);
  });
}

// A stream that ends well is not missed for a second.
absl::Duration SimulatedReplica::ToldUntil(const Watch& watch) const {
  const absl::Duration now = world_.time.now();
  const absl::Duration told =
      watch.open && !watch.behind ? now : std::max(watch.silent, now - absl::Seconds(1));
  return std::min(told, watch.unread_since.value_or(told));
}

SimulatedReplica::SentWrite SimulatedReplica::Write() const {
  SentWrite write = {
      .sent = world_.time.now(), .wall = clock_.WallNow(), .asked = asked_, .told = {}};
  for (const auto& [resource, watch] : watches_) write.told[resource] = ToldUntil(watch);
  return write;
}

void SimulatedReplica::BreakWatch(absl::string_view resource, const absl::Status& why) {
  Watch& watch = watches_[std::string(resource)];
  if (!watch.failure.ok()) return;
  watch.failure = why;
  const bool was_open = std::exchange(watch.open, false);
  const bool was_closed = std::exchange(watch.closed, false);
  if ((!was_open && !was_closed) || !alive()) return;
  if (was_open) watch.silent = world_.time.now();
  ++watch.streams;
  End(why, was_open, watch);
}

void SimulatedReplica::CloseWatch(absl::string_view resource, absl::Duration duration) {
  Watch& watch = watches_[std::string(resource)];
  if (!watch.open || !alive()) return;
  watch.open = false;
  watch.closed = true;
  watch.silent = world_.time.now();
  End(absl::OkStatus(), /*was_open=*/true, watch);
  world_.time.At(watch.silent + duration, [this, &watch, stream = ++watch.streams] {
    WaitWhileFrozen();
    if (!alive() || watch.streams != stream) return;
    NoticeEnd(watch);
    const bool late = world_.time.now() - watch.noticed > absl::Seconds(1);
    Open(watch);
    if (!late) return Pump(watch);
    CatchUp(watch, world_.time.now() + kLongestBacklog);
  });
}

void SimulatedReplica::Tell(absl::string_view resource, absl::string_view json) {
  watches_[std::string(resource)].handler->Changed(kube::ChangeType::kModified, json);
}

void SimulatedReplica::HealWatch(absl::string_view resource, bool list_anew) {
  Watch& watch = watches_[std::string(resource)];
  if (watch.failure.ok() || !alive()) return;
  if (frozen_) {
    world_.time.Soon([this, resource = std::string(resource), list_anew] {
      WaitWhileFrozen(thaw_lateness_);
      HealWatch(resource, list_anew);
    });
    return;
  }
  NoticeEnd(watch);
  watch.failure = absl::OkStatus();
  if (watch.handler == nullptr) return;
  const bool goes_on = !list_anew && watch.told > 0;
  if (goes_on) {
    Open(watch);
  } else {
    List(watch);
  }
  watch.handler->StatusChanged(absl::OkStatus());
  if (goes_on) CatchUp(watch, world_.time.now() + kLongestBacklog);
}

void SimulatedReplica::ListInPart(absl::string_view resource, size_t objects) {
  const Watch& watch = watches_[std::string(resource)];
  watch.handler->ListStarted();
  for (const auto& object : world_.cluster.store().List(watch.target)) {
    if (objects-- == 0) return;
    watch.handler->Listed(object->dump());
  }
}

bool SimulatedReplica::WatchIsBroken(absl::string_view resource) const {
  const auto found = watches_.find(std::string(resource));
  return found != watches_.end() && !found->second.failure.ok();
}

}  // namespace flyball::scaler
