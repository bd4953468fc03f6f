// links: scaler_loop
//
// The loop alone, against an API server and metrics that are made up as they are asked for: what a
// round costs and how much memory the process takes, lists included. What a real adapter and a real
// API server cost comes on top.
//
//   scaler_loop_bench [--autoscalers=10000] [--pods=10] [--namespaces=100] [--changing=1]
//                     [--rounds=10]
//
// 10,000 autoscalers with 10 pods each, a Resource and an External metric, decided each second.
// Prints one JSON line: CPU seconds for each round, how late the slowest decision was, peak memory.
#include <sys/resource.h>

#include <atomic>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/notification.h"
#include "scaler/loop/scaler.h"

namespace flyball::scaler {
namespace {

struct Sizes {
  int autoscalers = 10000;
  int pods = 10;
  int namespaces = 100;
  bool changing = true;
  int rounds = 10;
};

std::string NamespaceOf(const Sizes& sizes, int app) {
  return absl::StrCat("team-", app % sizes.namespaces);
}
std::string PodName(int app, int pod) {
  return absl::StrCat("app-", app, "-5d8f7c9b6d-", pod, "xkzq");
}

// One object of each list, as an API server would write it.
std::string PodJson(const Sizes& sizes, int index) {
  const int app = index / sizes.pods;
  // What a pod carries besides what is read: some 3 kB.
  static const std::string kFill(2200, 'x');
  return absl::StrCat(
      R"({"metadata":{"name":")", PodName(app, index % sizes.pods), R"(","namespace":")",
      NamespaceOf(sizes, app), R"(","uid":"0b1c","resourceVersion":"7","labels":{"app":"app-)", app,
      R"(","pod-template-hash":"5d8f7c9b6d"},"annotations":{"a":")", kFill,
      R"("}},"spec":{"nodeName":"node-)", index % 500,
      R"(","containers":[{"name":"app","resources":{"requests":{"cpu":"500m","memory":"256Mi"}}}]},)"
      R"("status":{"phase":"Running","startTime":"2026-01-01T00:00:00Z","conditions":[{"type":)"
      R"("Ready","status":"True","lastTransitionTime":"2026-01-01T00:00:05Z"}]}})");
}

std::string HpaJson(const Sizes& sizes, int app) {
  return absl::StrCat(
      R"({"metadata":{"name":"app-)", app, R"(","namespace":")", NamespaceOf(sizes, app),
      R"(","uid":"u","resourceVersion":"7"},"spec":{"minReplicas":1,"maxReplicas":50,)"
      R"("scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"app-)",
      app,
      R"("},"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization",)"
      R"("averageUtilization":60}}},{"type":"External","external":{"metric":{"name":"queue",)"
      R"("selector":{"matchLabels":{"app":"app-)",
      app, R"("}}},"target":{"type":"AverageValue","averageValue":"10"}}}]}})");
}

std::string DeploymentJson(const Sizes& sizes, int app) {
  return absl::StrCat(R"({"metadata":{"name":"app-)", app, R"(","namespace":")",
                      NamespaceOf(sizes, app),
                      R"(","uid":"u","resourceVersion":"7"},"spec":{"replicas":)", sizes.pods,
                      R"(,"selector":{"matchLabels":{"app":"app-)", app,
                      R"("}}},"status":{"replicas":)", sizes.pods, "}}");
}

// Lists, watches that never say anything, writes that succeed.
class MadeUpServer : public http::HttpTransport {
 public:
  explicit MadeUpServer(const Sizes& sizes) : sizes_(sizes) {}

  absl::StatusOr<http::HttpAnswer> Do(const http::HttpCall& call) override {
    http::HttpAnswer answer{.status = 200, .headers = {}, .body = ""};
    if (call.method != "GET") {
      answer.body = R"({"metadata":{"resourceVersion":"8"}})";
    } else if (absl::StrContains(call.target, "/pods")) {
      answer.body = List(sizes_.autoscalers * sizes_.pods, "v1", "Pod", PodJson);
    } else if (absl::StrContains(call.target, "/horizontalpodautoscalers")) {
      answer.body = List(sizes_.autoscalers, "autoscaling/v2", "HorizontalPodAutoscaler", HpaJson);
    } else if (absl::StrContains(call.target, "/deployments")) {
      answer.body = List(sizes_.autoscalers, "apps/v1", "Deployment", DeploymentJson);
    } else {
      answer.status = 404;
    }
    return answer;
  }
  absl::Status Stream(const http::HttpCall& call,
                      const std::function<bool(absl::string_view)>& on_data) override {
    if (!absl::StrContains(call.target, "watch=1")) {
      on_data(Do(call)->body);
      return absl::OkStatus();
    }
    on_data("");
    shut_.WaitForNotification();
    return absl::CancelledError("shut down");
  }
  void Shutdown() override {
    if (!shut_.HasBeenNotified()) shut_.Notify();
  }

 private:
  std::string List(int count, const char* version, const char* kind,
                   std::string (*json)(const Sizes&, int)) const {
    std::string body = absl::StrCat(R"({"kind":")", kind, R"(List","apiVersion":")", version,
                                    R"(","metadata":{"resourceVersion":"7"},"items":[)");
    for (int i = 0; i < count; ++i) absl::StrAppend(&body, i > 0 ? "," : "", json(sizes_, i));
    return body + "]}";
  }

  const Sizes sizes_;
  absl::Notification shut_;
};

class MadeUpResource : public adapter::ResourceMetricsProvider {
 public:
  explicit MadeUpResource(const Sizes& sizes) : sizes_(sizes) {
    for (int app = 0; app < sizes.autoscalers; ++app) {
      for (int pod = 0; pod < sizes.pods; ++pod) {
        auto object = std::make_shared<kube::ObjectMeta>();
        object->ns = NamespaceOf(sizes, app);
        object->name = PodName(app, pod);
        pods_[object->ns].push_back(std::move(object));
      }
    }
  }
  absl::StatusOr<adapter::ResourceMetricList<adapter::PodMetrics>> Pods(
      absl::string_view ns, absl::string_view, const adapter::ObjectFilter&,
      absl::Duration) override {
    adapter::ResourceMetricList<adapter::PodMetrics> list;
    const std::vector<kube::ObjectPtr>& pods = pods_.find(std::string(ns))->second;
    const int64_t step = sizes_.changing ? ++calls_ % 7 : 0;
    const absl::Time now = absl::Now();
    list.items.reserve(pods.size());
    for (const kube::ObjectPtr& pod : pods) {
      list.items.push_back(
          {.pod = pod,
           .timestamp = now,
           .window = absl::Seconds(30),
           .containers = {{"app", {.cpu_milli = 295 + step, .memory_milli = 1000}}}});
    }
    return list;
  }
  std::unique_ptr<adapter::StandingPods> StandPods(std::string ns, kube::Selector,
                                                   adapter::PodAmounts) override {
    return std::make_unique<Standing>(*this, std::move(ns));
  }
  absl::StatusOr<adapter::ResourceMetricList<adapter::NodeMetrics>> Nodes(
      absl::string_view, const adapter::ObjectFilter&, absl::Duration) override {
    return adapter::ResourceMetricList<adapter::NodeMetrics>();
  }
  uint64_t Epoch() const override { return 1; }

 private:
  class Standing : public adapter::StandingPods {
   public:
    using List = adapter::ResourceMetricList<adapter::PodMetrics>;
    Standing(MadeUpResource& provider, std::string ns) : provider_(provider), ns_(std::move(ns)) {}
    absl::StatusOr<adapter::StandingAnswer<List>> Ask(absl::Duration timeout) override {
      adapter::StandingAnswer<List> answer;
      answer.unchanged = std::exchange(asked_, true) && !provider_.sizes_.changing;
      answer.time = absl::Now();
      if (!answer.unchanged) answer.list = *provider_.Pods(ns_, "", {}, timeout);
      return answer;
    }

   private:
    MadeUpResource& provider_;
    const std::string ns_;
    bool asked_ = false;
  };

  const Sizes sizes_;
  std::map<std::string, std::vector<kube::ObjectPtr>> pods_;
  std::atomic<int64_t> calls_ = 0;
};

class MadeUpExternal : public adapter::ExternalMetricsProvider {
 public:
  explicit MadeUpExternal(const Sizes& sizes) : sizes_(sizes) {}
  absl::StatusOr<adapter::ExternalMetricList> Get(
      const adapter::ExternalMetricRequest& request) override {
    adapter::ExternalMetricList list;
    list.metric = request.metric;
    const int64_t step = sizes_.changing ? ++calls_ % 11 : 0;
    list.items.push_back({.labels = {},
                          .timestamp = absl::Now(),
                          .value_milli = (10 * sizes_.pods) * 1000 - step * 100});
    return list;
  }
  std::unique_ptr<adapter::StandingExternal> Stand(
      std::vector<adapter::ExternalMetricRequest> requests) override {
    return std::make_unique<Standing>(*this, std::move(requests));
  }
  std::shared_ptr<const std::vector<std::string>> ListAll() const override { return nullptr; }
  uint64_t Epoch() const override { return 1; }

 private:
  class Standing : public adapter::StandingExternal {
   public:
    using Answer = adapter::StandingAnswer<adapter::ExternalMetricList>;
    Standing(MadeUpExternal& provider, std::vector<adapter::ExternalMetricRequest> requests)
        : provider_(provider), requests_(std::move(requests)) {}
    std::vector<absl::StatusOr<Answer>> Ask(absl::Duration) override {
      const bool unchanged = std::exchange(asked_, true) && !provider_.sizes_.changing;
      std::vector<absl::StatusOr<Answer>> answers;
      for (const adapter::ExternalMetricRequest& request : requests_) {
        Answer answer{.unchanged = unchanged, .time = absl::Now()};
        if (!unchanged) answer.list = *provider_.Get(request);
        answers.push_back(std::move(answer));
      }
      return answers;
    }

   private:
    MadeUpExternal& provider_;
    const std::vector<adapter::ExternalMetricRequest> requests_;
    bool asked_ = false;
  };

  const Sizes sizes_;
  std::atomic<int64_t> calls_ = 0;
};

class OneKind : public kube::ObjectDirectory {
 public:
  absl::StatusOr<std::vector<kube::ObjectPtr>> List(const kube::ObjectQuery&) override {
    return std::vector<kube::ObjectPtr>();
  }
  absl::StatusOr<kube::ObjectPtr> Get(const kube::GroupResource&, absl::string_view,
                                      absl::string_view, bool) override {
    return kube::ObjectPtr();
  }
  std::shared_ptr<const kube::RestMapper> mapper() const override { return mapper_; }
  uint64_t Generation() const override { return 1; }

 private:
  std::shared_ptr<const kube::RestMapper> mapper_ = std::make_shared<const kube::RestMapper>(
      std::vector<kube::ResourceInfo>{{.name = {"apps", "deployments"},
                                       .version = "v1",
                                       .kind = "Deployment",
                                       .singular = "deployment"}});
};

double CpuSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

// How late the slowest decision was: reading and deciding from its slot on.
class Lateness : public DecisionObserver {
 public:
  void OnDecision(const DecisionRecord& record) override {
    const int64_t micros = absl::ToInt64Microseconds(record.took);
    int64_t slowest = slowest_.load();
    while (micros > slowest && !slowest_.compare_exchange_weak(slowest, micros)) {
    }
  }
  void OnForgotten(const AutoscalerKey&) override {}
  int64_t Take() { return slowest_.exchange(0); }

 private:
  std::atomic<int64_t> slowest_ = 0;
};

int Main(const Sizes& sizes) {
  const int rounds = sizes.rounds;
  OneKind directory;
  SoleOwner ownership;
  Lateness lateness;
  const adapter::Providers providers = {.custom = nullptr,
                                        .external = std::make_shared<MadeUpExternal>(sizes),
                                        .resource = std::make_shared<MadeUpResource>(sizes)};
  ScalerOptions options;
  options.mode = Mode::kAct;
  options.act_on_hpas = true;
  options.sync_period = absl::Seconds(1);
  // Enough for the first statuses to be written before it is measured.
  options.writes_per_second = 100000;
  Scaler scaler({.make_transport = [&]() -> absl::StatusOr<std::unique_ptr<http::HttpTransport>> {
                   return std::make_unique<MadeUpServer>(sizes);
                 },
                 .directory = directory,
                 .providers = [&] { return providers; },
                 .clock = Clock::System(),
                 .ownership = ownership,
                 .observers = {&lateness}},
                options);
  const absl::Time begun = absl::Now();
  if (!scaler.Start().ok()) return 1;
  const auto count = static_cast<uint64_t>(sizes.autoscalers);
  const absl::Notification never;
  while (scaler.stats().decisions < 3 * count) {
    never.WaitForNotificationWithTimeout(absl::Milliseconds(20));
  }
  const double to_third_round = absl::ToDoubleSeconds(absl::Now() - begun);
  const Scaler::Stats before = scaler.stats();
  const double cpu_before = CpuSeconds();
  const absl::Time from = absl::Now();
  lateness.Take();
  while (scaler.stats().decisions < before.decisions + rounds * count) {
    never.WaitForNotificationWithTimeout(absl::Milliseconds(500));
  }
  const double seconds = absl::ToDoubleSeconds(absl::Now() - from);
  const double cpu = CpuSeconds() - cpu_before;
  const Scaler::Stats after = scaler.stats();
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  std::printf(
      "{\"autoscalers\":%d,\"pods\":%zu,\"changing\":%s,\"start_s\":%.2f,\"round_s\":%.3f,"
      "\"cpu_s_each_round\":%.4f,\"unchanged\":%.3f,\"slowest_ms\":%.1f,\"status_writes\":%llu,"
      "\"scale_writes\":%llu,\"peak_mib\":%ld}\n",
      sizes.autoscalers, after.pods, sizes.changing ? "true" : "false", to_third_round,
      seconds / rounds, cpu / rounds,
      static_cast<double>(after.unchanged - before.unchanged) /
          static_cast<double>(after.decisions - before.decisions),
      static_cast<double>(lateness.Take()) / 1000,
      static_cast<unsigned long long>(after.status_writes - before.status_writes),
      static_cast<unsigned long long>(after.scale_writes - before.scale_writes),
      usage.ru_maxrss / 1024);
  scaler.Stop();
  return 0;
}

bool Parse(absl::string_view argument, Sizes& sizes) {
  const std::vector<absl::string_view> parts = absl::StrSplit(argument, '=');
  int value = 0;
  if (parts.size() != 2 || !absl::SimpleAtoi(parts[1], &value)) return false;
  if (parts[0] == "--autoscalers") sizes.autoscalers = value;
  if (parts[0] == "--pods") sizes.pods = value;
  if (parts[0] == "--namespaces") sizes.namespaces = value;
  if (parts[0] == "--rounds") sizes.rounds = value;
  if (parts[0] == "--changing") sizes.changing = value != 0;
  return true;
}

}  // namespace
}  // namespace flyball::scaler

int main(int argc, char** argv) {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  flyball::scaler::Sizes sizes;
  for (int i = 1; i < argc; ++i) {
    if (!flyball::scaler::Parse(argv[i], sizes)) {
      std::fprintf(stderr, "unknown argument %s\n", argv[i]);
      return 2;
    }
  }
  return flyball::scaler::Main(sizes);
}
