#include "cmd/flyball/rule_bench.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "adapter/custom_provider.h"
#include "adapter/external_provider.h"
#include "adapter/live/live.h"
#include "adapter/relist.h"
#include "adapter/resource_provider.h"
#include "apiservice/router.h"
#include "apiservice/wire/metric_lists.h"
#include "apiservice/wire/resource_lists.h"
#include "apiservice/wire/status.h"
#include "base/clock.h"
#include "base/status_macros.h"

namespace flyball::cmd {
namespace {

namespace wire = apiservice::wire;

constexpr absl::Duration kTimeout = absl::Seconds(60);

// Passes everything on and remembers the queries.
class RecordingSource : public adapter::MetricSource {
 public:
  explicit RecordingSource(adapter::MetricSource& source) : source_(source) {}

  absl::StatusOr<std::shared_ptr<const adapter::QueryResult>> Query(
      absl::string_view promql, absl::Time at, absl::Duration timeout) override {
    {
      absl::MutexLock lock(&mutex_);
      queries_.emplace_back(promql);
    }
    return source_.Query(promql, at, timeout);
  }
  absl::StatusOr<std::vector<adapter::SeriesName>> Series(absl::string_view selector,
                                                          absl::Time start,
                                                          absl::Duration timeout) override {
    return source_.Series(selector, start, timeout);
  }

  // The queries since the last call, sorted: resource metrics ask in parallel.
  std::vector<std::string> Take() {
    absl::MutexLock lock(&mutex_);
    std::vector<std::string> queries = std::move(queries_);
    queries_.clear();
    std::sort(queries.begin(), queries.end());
    return queries;
  }

 private:
  adapter::MetricSource& source_;
  absl::Mutex mutex_;
  std::vector<std::string> queries_ ABSL_GUARDED_BY(mutex_);
};

class RelisterView : public adapter::RegistryView {
 public:
  explicit RelisterView(const adapter::Relister& relister) : relister_(relister) {}
  std::shared_ptr<const adapter::SeriesRegistry> registry() const override {
    return relister_.registry();
  }
  uint64_t generation() const override { return relister_.generation(); }

 private:
  const adapter::Relister& relister_;
};

Exchange FromStatus(const wire::Status& status) { return {status.code, wire::ToJson(status), {}}; }

Exchange FromError(const absl::Status& error) { return FromStatus(wire::FromProviderError(error)); }

adapter::BatcherOptions EachRequestAsks() {
  adapter::BatcherOptions options;
  options.flights.freshness = absl::ZeroDuration();
  return options;
}

}  // namespace

class RuleBench::Impl {
 public:
  Impl(FixedDirectory& directory, absl::Time now)
      : clock_(now),
        recorder_(live_),
        relister_({.source = recorder_,
                   .directory = directory,
                   .clock = clock_,
                   // At once and on this thread, so that one Step is one whole round.
                   .run = [](const std::function<void()>& task) { task(); },
                   .wake = [] {}},
                  adapter::RelistOptions()),
        view_(relister_),
        batcher_(recorder_, clock_, EachRequestAsks(), nullptr),
        values_(adapter::NanValue::kZero, clock_, nullptr),
        complaints_(clock_, absl::Seconds(10)),
        answering_{view_, directory, batcher_, values_, clock_, complaints_},
        pool_(2) {}

  absl::Status Load(const RuleTestFile& file) {
    for (const InputSeries& series : file.input_series) {
      absl::Time time = absl::UnixEpoch();
      for (const auto& value : series.values) {
        if (time > clock_.WallNow()) break;
        if (value) RETURN_IF_ERROR(live_.Append(series.labels, time, *value));
        time += file.interval;
      }
    }
    return absl::OkStatus();
  }

  void SetRules(std::shared_ptr<const rules::CompiledRules> rules) {
    rules_ = std::move(rules);
    relister_.SetRules(rules_);
    relister_.Step();
  }

  Exchange Get(absl::string_view target) {
    const apiservice::RoutedRequest request = apiservice::Route("GET", target, kTimeout);
    recorder_.Take();
    Exchange exchange = Dispatch(request);
    exchange.promql = recorder_.Take();
    return exchange;
  }

  const adapter::Relister& relister() const { return relister_; }

 private:
  Exchange Dispatch(const apiservice::RoutedRequest& request) {
    if (request.early_error) return FromStatus(*request.early_error);
    if (request.error) return FromStatus(*request.error);
    switch (request.endpoint) {
      case apiservice::Endpoint::kCustomMetric:
        if (!rules_->custom.empty()) return Custom(request);
        break;
      case apiservice::Endpoint::kExternalMetric:
        if (!rules_->external.empty()) return External(request);
        break;
      case apiservice::Endpoint::kPodMetrics:
        if (rules_->resource) return Pods(request);
        break;
      case apiservice::Endpoint::kNodeMetrics:
        if (rules_->resource) return Nodes(request);
        break;
      default:
        break;
    }
    return FromStatus(wire::RouteNotFound());
  }

  Exchange Custom(const apiservice::RoutedRequest& request) {
    adapter::CustomMetricRequest ask;
    ask.resource = request.resource;
    if (!request.ns.empty()) ask.ns = request.ns;
    ask.namespace_itself = request.namespace_itself;
    ask.name = request.name;
    ask.metric = request.metric;
    ask.object_selector = request.label_selector;
    ask.metric_selector = request.metric_selector;
    ask.timeout = request.timeout;
    const auto list = adapter::CustomProvider(answering_).Get(ask);
    if (!list.ok()) return FromError(list.status());
    const auto version = request.version == "v1beta1" ? wire::CustomVersion::kV1Beta1
                                                      : wire::CustomVersion::kV1Beta2;
    return {200, wire::ToJson(*list, version), {}};
  }

  Exchange External(const apiservice::RoutedRequest& request) {
    const auto list =
        adapter::ExternalProvider(answering_)
            .Get({request.ns, request.metric, request.label_selector, request.timeout});
    if (!list.ok()) return FromError(list.status());
    return {200, wire::ToJson(*list), {}};
  }

  adapter::ResourceProvider Resources() {
    return adapter::ResourceProvider({.answering = answering_, .pool = pool_}, *rules_->resource);
  }

  Exchange Pods(const apiservice::RoutedRequest& request) {
    const auto list =
        Resources().Pods(request.ns, request.name, request.label_selector, request.timeout);
    if (!list.ok()) return FromError(list.status());
    if (request.name.empty()) {
      return {200, wire::PodMetricsListJson(list->items, clock_.WallNow()), {}};
    }
    if (list->items.empty()) return NoSample("pods", request);
    return {200, wire::PodMetricsJson(list->items[0], clock_.WallNow()), {}};
  }

  Exchange Nodes(const apiservice::RoutedRequest& request) {
    const auto list = Resources().Nodes(request.name, request.label_selector, request.timeout);
    if (!list.ok()) return FromError(list.status());
    if (request.name.empty()) {
      return {200, wire::NodeMetricsListJson(list->items, clock_.WallNow()), {}};
    }
    if (list->items.empty()) return NoSample("nodes", request);
    return {200, wire::NodeMetricsJson(list->items[0], clock_.WallNow()), {}};
  }

  // The object is there, its metrics are not.
  static Exchange NoSample(absl::string_view resource, const apiservice::RoutedRequest& request) {
    const std::string what = resource == "pods" ? "podmetrics" : "nodemetrics";
    const std::string name =
        request.ns.empty() ? request.name : absl::StrCat(request.ns, "/", request.name);
    return FromStatus(wire::ObjectNotFound(apiservice::kResourceGroup, what, name));
  }

  SimulatedClock clock_;
  adapter::Live live_;
  RecordingSource recorder_;
  adapter::Relister relister_;
  RelisterView view_;
  adapter::QueryBatcher batcher_;
  adapter::ValueGuard values_;
  adapter::LogLimiter complaints_;
  const adapter::Answering answering_;
  adapter::WorkerPool pool_;
  std::shared_ptr<const rules::CompiledRules> rules_;
};

RuleBench::RuleBench(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RuleBench::~RuleBench() = default;

absl::StatusOr<std::unique_ptr<RuleBench>> RuleBench::Create(
    std::shared_ptr<const rules::CompiledRules> rules, const RuleTestFile& file,
    FixedDirectory& directory, absl::Duration eval_time) {
  auto impl = std::make_unique<Impl>(directory, absl::UnixEpoch() + eval_time);
  RETURN_IF_ERROR(impl->Load(file));
  impl->SetRules(std::move(rules));
  return std::unique_ptr<RuleBench>(new RuleBench(std::move(impl)));
}

Exchange RuleBench::Get(absl::string_view request) { return impl_->Get(request); }

std::vector<std::string> RuleBench::DiscoveryErrors() const {
  std::vector<std::string> errors;
  for (const adapter::RuleStatus& status : impl_->relister().Statuses()) {
    if (!status.error.empty()) errors.push_back(absl::StrCat(status.where, ": ", status.error));
  }
  return errors;
}

}  // namespace flyball::cmd
