// Tests only: a running scaler on a cluster in memory, with metrics that the test sets and a clock
// that only the test moves.
//
// The threads of the scaler really run. A test waits for what they do (Await…), never for time.
#pragma once

#include <atomic>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "adapter/testing/fakes.h"
#include "base/clock.h"
#include "kube/testing/fake_api_server.h"
#include "scaler/loop/scaler.h"

namespace flyball::scaler {

inline constexpr absl::Time kLoopStart = absl::FromUnixSeconds(1767225600);

// Answers of the three metrics APIs, by name of metric, object or pod.
class TestMetrics {
 public:
  // Values are in thousandths; an absent one makes the answer an error.
  void SetExternal(const std::string& metric, std::optional<int64_t> milli) {
    absl::MutexLock lock(&mutex_);
    external_[metric] = milli;
  }
  void SetObject(const std::string& metric, std::optional<int64_t> milli) {
    absl::MutexLock lock(&mutex_);
    objects_[metric] = milli;
  }
  // Sets the value of that metric for every pod.
  void SetPods(const std::string& metric, std::optional<int64_t> milli) {
    absl::MutexLock lock(&mutex_);
    pods_[metric] = milli;
  }
  void SetCpu(std::optional<int64_t> milli) {
    absl::MutexLock lock(&mutex_);
    cpu_ = milli;
  }
  // Sets a function that runs before each answer, outside all locks.
  void OnAsk(std::function<void(const std::string& metric)> hook) {
    absl::MutexLock lock(&mutex_);
    hook_ = std::move(hook);
  }
  int asked(const std::string& what) const {
    absl::MutexLock lock(&mutex_);
    const auto found = asked_.find(what);
    return found == asked_.end() ? 0 : found->second;
  }
  // The selector of the last question for resource metrics.
  std::string pods_asked() const {
    absl::MutexLock lock(&mutex_);
    return pods_asked_;
  }

  // The metrics APIs with these values; `directory` has the pods.
  adapter::Providers MakeProviders(kube::ObjectDirectory& directory, Clock& clock);

 private:
  class Custom;
  class External;
  class Resource;

  std::optional<int64_t> Ask(const std::string& what,
                             std::map<std::string, std::optional<int64_t>>& values,
                             const std::string& metric) {
    std::function<void(const std::string&)> hook;
    {
      absl::MutexLock lock(&mutex_);
      ++asked_[what];
      hook = hook_;
    }
    if (hook) hook(metric);
    absl::MutexLock lock(&mutex_);
    return values[metric];
  }

  mutable absl::Mutex mutex_;
  std::map<std::string, std::optional<int64_t>> external_, objects_, pods_, cpu_by_name_;
  std::optional<int64_t> cpu_ ABSL_GUARDED_BY(mutex_);
  std::function<void(const std::string&)> hook_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, int> asked_ ABSL_GUARDED_BY(mutex_);
  std::string pods_asked_ ABSL_GUARDED_BY(mutex_);
};

class TestMetrics::External : public adapter::ExternalMetricsProvider {
 public:
  External(TestMetrics& metrics, Clock& clock) : metrics_(metrics), clock_(clock) {}
  absl::StatusOr<adapter::ExternalMetricList> Get(
      const adapter::ExternalMetricRequest& request) override {
    const std::optional<int64_t> milli =
        metrics_.Ask("external", metrics_.external_, request.metric);
    if (!milli.has_value()) return absl::InternalError("unable to fetch metrics");
    adapter::ExternalMetricList list;
    list.metric = request.metric;
    list.items.push_back({.labels = {}, .timestamp = clock_.WallNow(), .value_milli = *milli});
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
  // All requests are one query, since they are for one metric.
  class Standing : public adapter::StandingExternal {
   public:
    using Answer = adapter::StandingAnswer<adapter::ExternalMetricList>;
    Standing(External& provider, std::vector<adapter::ExternalMetricRequest> requests)
        : provider_(provider), requests_(std::move(requests)) {}

    std::vector<absl::StatusOr<Answer>> Ask(absl::Duration) override {
      absl::StatusOr<adapter::ExternalMetricList> list = provider_.Get(requests_[0]);
      const std::optional<int64_t> before = std::exchange(last_, std::nullopt);
      if (!list.ok()) return std::vector<absl::StatusOr<Answer>>(requests_.size(), list.status());
      last_ = list->items[0].value_milli;
      Answer answer{.unchanged = last_ == before, .time = list->items[0].timestamp};
      if (!answer.unchanged) answer.list = *std::move(list);
      return std::vector<absl::StatusOr<Answer>>(requests_.size(), answer);
    }

   private:
    External& provider_;
    const std::vector<adapter::ExternalMetricRequest> requests_;
    std::optional<int64_t> last_;
  };

  TestMetrics& metrics_;
  Clock& clock_;
};

class TestMetrics::Custom : public adapter::CustomMetricsProvider {
 public:
  Custom(TestMetrics& metrics, kube::ObjectDirectory& directory, Clock& clock)
      : metrics_(metrics), directory_(directory), clock_(clock) {}
  absl::StatusOr<adapter::CustomMetricList> Get(
      const adapter::CustomMetricRequest& request) override {
    const bool pods = request.name == "*";
    const std::optional<int64_t> milli = metrics_.Ask(
        pods ? "pods" : "object", pods ? metrics_.pods_ : metrics_.objects_, request.metric);
    if (!milli.has_value()) return absl::InternalError("unable to fetch metrics");
    adapter::CustomMetricList list;
    list.timestamp = clock_.WallNow();
    const auto add = [&](const std::string& name) {
      list.items.push_back({.object = {.kind = pods ? "Pod" : request.resource,
                                       .api_version = "/v1",
                                       .ns = request.ns.value_or(""),
                                       .name = name},
                            .value_milli = *milli});
    };
    if (!pods) {
      add(request.name);
      return list;
    }
    const auto found = directory_.List({.resource = {"", "pods"},
                                        .ns = request.ns.value_or(""),
                                        .selector = request.object_selector});
    for (const kube::ObjectPtr& pod : *found) add(pod->name);
    return list;
  }
  std::shared_ptr<const std::vector<adapter::CustomMetricInfo>> ListAll() const override {
    return std::make_shared<const std::vector<adapter::CustomMetricInfo>>();
  }
  uint64_t Epoch() const override { return 1; }

 private:
  TestMetrics& metrics_;
  kube::ObjectDirectory& directory_;
  Clock& clock_;
};

class TestMetrics::Resource : public adapter::ResourceMetricsProvider {
 public:
  Resource(TestMetrics& metrics, kube::ObjectDirectory& directory, Clock& clock)
      : metrics_(metrics), directory_(directory), clock_(clock) {}
  absl::StatusOr<adapter::ResourceMetricList<adapter::PodMetrics>> Pods(
      absl::string_view ns, absl::string_view /*name*/, const adapter::ObjectFilter& filter,
      absl::Duration /*timeout*/) override {
    std::map<std::string, std::optional<int64_t>> none;
    metrics_.Ask("resource", none, "cpu");
    std::optional<int64_t> cpu;
    {
      absl::MutexLock lock(&metrics_.mutex_);
      cpu = metrics_.cpu_;
      metrics_.pods_asked_ = filter.labels.ToString();
    }
    if (!cpu.has_value()) return absl::UnavailableError("metrics source is down");
    adapter::ResourceMetricList<adapter::PodMetrics> list;
    const auto found = directory_.List(
        {.resource = {"", "pods"}, .ns = std::string(ns), .selector = filter.labels});
    for (const kube::ObjectPtr& pod : *found) {
      list.items.push_back({.pod = pod,
                            .timestamp = clock_.WallNow(),
                            .window = absl::Seconds(30),
                            .containers = {{"app", {.cpu_milli = *cpu, .memory_milli = 1000}}}});
    }
    return list;
  }
  absl::StatusOr<adapter::ResourceMetricList<adapter::NodeMetrics>> Nodes(
      absl::string_view, const adapter::ObjectFilter&, absl::Duration) override {
    return adapter::ResourceMetricList<adapter::NodeMetrics>();
  }
  uint64_t Epoch() const override { return 1; }

 private:
  TestMetrics& metrics_;
  kube::ObjectDirectory& directory_;
  Clock& clock_;
};

inline adapter::Providers TestMetrics::MakeProviders(kube::ObjectDirectory& directory,
                                                     Clock& clock) {
  return {.custom = std::make_shared<Custom>(*this, directory, clock),
          .external = std::make_shared<External>(*this, clock),
          .resource = std::make_shared<Resource>(*this, directory, clock)};
}

// What an observer got of one decision.
struct Seen {
  Mode mode = Mode::kShadow;
  Decision decision;
  bool scale_written = false;
  std::string scale_error;
  bool unchanged = false;
  bool scale_is_old = false;
  std::optional<Activation> activation;
};

// Remembers the decisions of each autoscaler, in their order.
class DecisionDiary : public DecisionObserver {
 public:
  void OnDecision(const DecisionRecord& record) override {
    Seen seen{.mode = record.mode,
              .decision = *record.decision,
              .scale_written = record.scale_written,
              .scale_error = record.scale_error,
              .unchanged = record.unchanged,
              .scale_is_old = record.scale_is_old,
              .activation = {}};
    if (record.activation != nullptr) seen.activation = *record.activation;
    absl::MutexLock lock(&mutex_);
    steady_.erase(record.managed->key.name);
    ++decided_[record.managed->key.name];
    seen_[record.managed->key.name].push_back(std::move(seen));
    ++total_;
  }
  void OnForgotten(const AutoscalerKey& key) override {
    absl::MutexLock lock(&mutex_);
    ++forgotten_[key.name];
  }
  void OnSteady(const AutoscalerKey& key, int32_t /*recommendation*/,
                const SteadinessPtr& /*steadiness*/) override {
    absl::MutexLock lock(&mutex_);
    steady_.insert(key.name);
  }
  void OnRound(const RoundRecord& round) override {
    absl::MutexLock lock(&mutex_);
    last_round_ = round.keys.size();
    for (const AutoscalerKey* key : round.keys) {
      std::vector<Seen>& seen = seen_[key->name];
      seen.push_back(seen.empty() ? Seen() : seen.back());
      seen.back().unchanged = true;
      seen.back().decision.now = round.time;
      ++total_;
    }
  }
  // The number of autoscalers in the last round.
  size_t last_round() const {
    absl::MutexLock lock(&mutex_);
    return last_round_;
  }
  bool steady(const std::string& name) const {
    absl::MutexLock lock(&mutex_);
    return steady_.contains(name);
  }
  // Decisions without those that rounds of a steady autoscaler count for.
  int decided(const std::string& name) const {
    absl::MutexLock lock(&mutex_);
    const auto found = decided_.find(name);
    return found == decided_.end() ? 0 : found->second;
  }
  int count(const std::string& name) const {
    absl::MutexLock lock(&mutex_);
    const auto found = seen_.find(name);
    return found == seen_.end() ? 0 : static_cast<int>(found->second.size());
  }
  int total() const {
    absl::MutexLock lock(&mutex_);
    return total_;
  }
  int forgotten(const std::string& name) const {
    absl::MutexLock lock(&mutex_);
    const auto found = forgotten_.find(name);
    return found == forgotten_.end() ? 0 : found->second;
  }
  Seen last(const std::string& name) const {
    absl::MutexLock lock(&mutex_);
    const auto found = seen_.find(name);
    return found == seen_.end() || found->second.empty() ? Seen() : found->second.back();
  }
  // The decision with this number, counted from 1. Valid once AwaitCount has returned true for it.
  Seen at(const std::string& name, int number) const {
    absl::MutexLock lock(&mutex_);
    return seen_.at(name).at(static_cast<size_t>(number) - 1);
  }
  // False: not within `at_most` of real time.
  bool AwaitCount(const std::string& name, int count, absl::Duration at_most) const {
    absl::MutexLock lock(&mutex_);
    const auto enough = [&]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
      const auto found = seen_.find(name);
      return found != seen_.end() && found->second.size() >= static_cast<size_t>(count);
    };
    return mutex_.AwaitWithTimeout(absl::Condition(&enough), at_most);
  }

 private:
  mutable absl::Mutex mutex_;
  std::map<std::string, std::vector<Seen>> seen_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, int> forgotten_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> steady_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, int> decided_ ABSL_GUARDED_BY(mutex_);
  int total_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t last_round_ ABSL_GUARDED_BY(mutex_) = 0;
};

// An owner of everything or of nothing, as set by the test.
class ChangingOwner : public SoleOwner {
 public:
  explicit ChangingOwner(bool owns) : owns_(owns) {}
  bool Owns(const AutoscalerKey&) const override { return owns_; }
  void OnChange(std::function<void()> on_change) override { on_change_ = std::move(on_change); }
  void Become(bool owns) {
    owns_ = owns;
    on_change_();
  }

 private:
  std::atomic<bool> owns_;
  std::function<void()> on_change_;
};

inline std::vector<kube::ResourceInfo> LoopCluster() {
  std::vector<kube::ResourceInfo> kinds = adapter::SmallCluster();
  kinds.push_back(adapter::Kind("apps", "statefulsets", "statefulset", "StatefulSet"));
  kinds.push_back(adapter::Kind("example.com", "widgets", "widget", "Widget"));
  return kinds;
}

// Metric specs as JSON.
inline std::string ExternalMetricJson(const std::string& name, const std::string& average) {
  return absl::StrCat(R"({"type":"External","external":{"metric":{"name":")", name,
                      R"("},"target":{"type":"AverageValue","averageValue":")", average, R"("}}})");
}
inline std::string CpuMetricJson(int percent) {
  return absl::StrCat(
      R"({"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization",)",
      R"("averageUtilization":)", percent, "}}}");
}
inline std::string PodsMetricJson(const std::string& name, const std::string& average) {
  return absl::StrCat(R"({"type":"Pods","pods":{"metric":{"name":")", name,
                      R"("},"target":{"type":"AverageValue","averageValue":")", average, R"("}}})");
}
inline std::string ObjectMetricJson(const std::string& name, const std::string& value) {
  return absl::StrCat(
      R"({"type":"Object","object":{"metric":{"name":")", name,
      R"("},"describedObject":{"apiVersion":"v1","kind":"Service","name":"front"},)",
      R"("target":{"type":"Value","value":")", value, R"("}}})");
}

class LoopWorld {
 public:
  explicit LoopWorld(ScalerOptions options = ActOnHpas())
      : options_(std::move(options)), directory_(LoopCluster()) {
    api.AddKind(
        adapter::Kind("flyball.dev", "autoscalers", "autoscaler", "Autoscaler", true, "v1alpha1"));
    api.AddKind(adapter::Kind("example.com", "widgets", "widget", "Widget"), /*scale=*/true);
  }
  // The last statuses may wait for their turn in the write budget, so that time has to pass.
  ~LoopWorld() {
    if (scaler == nullptr) return;
    absl::Notification stopped;
    std::thread stop([&] {
      scaler->Stop();
      stopped.Notify();
    });
    while (!stopped.WaitForNotificationWithTimeout(absl::Milliseconds(2))) {
      clock.Advance(absl::Seconds(1));
    }
    stop.join();
  }

  static ScalerOptions ActOnHpas() {
    ScalerOptions options;
    options.mode = Mode::kAct;
    options.act_on_hpas = true;
    return options;
  }

  static ScalerOptions InShadow() {
    ScalerOptions options;
    options.mode = Mode::kShadow;
    return options;
  }

  // A Deployment whose pods have the label app=NAME, with `replicas` of them running and ready.
  void AddDeployment(const std::string& name, int replicas, const std::string& ns = "shop") {
    api.Put(absl::StrCat(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"namespace":")",
                         ns, R"(","name":")", name, R"("},"spec":{"replicas":)", replicas,
                         R"(,"selector":{"matchLabels":{"app":")", name,
                         R"("}}},"status":{"replicas":)", replicas, "}}"));
    for (int i = 0; i < replicas; ++i) AddPod(name, absl::StrCat(name, "-", i), ns);
  }
  void AddPod(const std::string& app, const std::string& name, const std::string& ns = "shop") {
    const std::string since =
        absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", kLoopStart - absl::Hours(1), absl::UTCTimeZone());
    api.Put(absl::StrCat(
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":")", ns, R"(","name":")", name,
        R"(","labels":{"app":")", app,
        R"("}},"spec":{"containers":[{"name":"app","resources":{"requests":{"cpu":"1"}}}]},)",
        R"("status":{"phase":"Running","startTime":")", since,
        R"(","conditions":[{"type":"Ready","status":"True","lastTransitionTime":")", since,
        R"("}]}})"));
    directory_.Add("pods", ns, name, {{"app", app}});
  }
  // `metrics` are metric specs joined by commas; `more` has further fields of the spec, each with a
  // comma before it.
  void PutHpa(const std::string& name, const std::string& metrics, const std::string& more = "",
              const std::string& annotations = "{}", const std::string& ns = "shop") {
    api.Put(absl::StrCat(
        R"({"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{)",
        R"("namespace":")", ns, R"(","name":")", name, R"(","annotations":)", annotations,
        R"(},"spec":{"maxReplicas":20,"scaleTargetRef":{"apiVersion":"apps/v1",)",
        R"("kind":"Deployment","name":")", name, R"("},"metrics":[)", metrics, "]", more, "}}"));
  }
  void PutOwn(const std::string& name, const std::string& metrics, const std::string& more = "") {
    api.Put(absl::StrCat(
        R"({"apiVersion":"flyball.dev/v1alpha1","kind":"Autoscaler","metadata":{"namespace":)",
        R"("shop","generation":)", ++generation_, R"(,"name":")", name,
        R"("},"spec":{"maxReplicas":20,"scaleTargetRef":{"apiVersion":"apps/v1",)",
        R"("kind":"Deployment","name":")", name, R"("},"metrics":[)", metrics, "]", more, "}}"));
  }

  void Start() {
    Make();
    if (!scaler->Start().ok()) std::abort();
  }
  void Make() {
    if (!providers) {
      providers = [made = metrics.MakeProviders(directory_, clock)] { return made; };
    }
    scaler = std::make_unique<Scaler>(Scaler::Deps{.make_transport = api.Connector(),
                                                   .directory = directory_,
                                                   .providers = providers,
                                                   .clock = clock,
                                                   .ownership = *ownership,
                                                   .observers = {&diary},
                                                   .pod_followers = pod_followers,
                                                   .front = front},
                                      options_);
  }

  // Moves the clock until `name` was decided once more. nullopt: it was not.
  std::optional<Seen> Next(const std::string& name) {
    const int before = diary.count(name);
    for (int i = 0; i < 400; ++i) {
      clock.Advance(absl::Seconds(1));
      // Time stands still while anybody is due or busy; otherwise it would outrun a slow machine.
      Await([&] { return diary.count(name) > before || scaler->stats().queue == 0; },
            absl::Milliseconds(500));
      if (diary.AwaitCount(name, before + 1, absl::Milliseconds(15)))
        return diary.at(name, before + 1);
    }
    return std::nullopt;
  }

  // spec.replicas of a Deployment as stored.
  int Replicas(const std::string& name) const {
    const std::string text =
        api.Get(absl::StrCat("/apis/apps/v1/namespaces/shop/deployments/", name));
    const size_t spec = text.find("\"spec\"");
    const size_t at = text.find("\"replicas\":", spec);
    return at == std::string::npos ? -1 : std::stoi(text.substr(at + 11));
  }
  std::string Hpa(const std::string& name) const {
    return api.Get(
        absl::StrCat("/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/", name));
  }
  std::string Own(const std::string& name) const {
    return api.Get(absl::StrCat("/apis/flyball.dev/v1alpha1/namespaces/shop/autoscalers/", name));
  }
  // Waits until the condition is true, for that much real time at most.
  static bool Await(const std::function<bool()>& condition,
                    absl::Duration at_most = absl::Seconds(30)) {
    const absl::Notification never;
    const absl::Time until = absl::Now() + at_most;
    while (!condition()) {
      if (absl::Now() >= until) return false;
      never.WaitForNotificationWithTimeout(absl::Milliseconds(2));
    }
    return true;
  }

  kube::FakeApiServer api;
  SimulatedClock clock{kLoopStart};
  TestMetrics metrics;
  DecisionDiary diary;
  SoleOwner sole_owner;
  Ownership* ownership = &sole_owner;
  std::shared_ptr<kube::PodFeed> pod_followers;  // to be set before Make, like the next two
  std::shared_ptr<RequestFront> front;
  std::function<adapter::Providers()> providers;  // empty: those of `metrics`
  std::unique_ptr<Scaler> scaler;

 private:
  const ScalerOptions options_;
  adapter::FakeDirectory directory_;
  int generation_ = 0;
};

}  // namespace flyball::scaler
