#include "rule_tests/rule_bench.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "adapter/custom_provider.h"
#include "adapter/external_provider.h"
#include "adapter/live/live.h"
#include "adapter/live/store/store.h"
#include "adapter/relist.h"
#include "adapter/resource_provider.h"
#include "apiservice/endpoints/health.h"
#include "apiservice/handler.h"
#include "base/clock.h"
#include "base/status_macros.h"

namespace flyball::rule_tests {
namespace {

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
    auto result = source_.Query(promql, at, timeout);
    if (!result.ok()) {
      absl::MutexLock lock(&mutex_);
      errors_.push_back(absl::StrCat(promql, ": ", result.status().message()));
    }
    return result;
  }
  absl::StatusOr<std::vector<adapter::SeriesName>> Series(absl::string_view selector,
                                                          absl::Time start,
                                                          absl::Duration timeout) override {
    return source_.Series(selector, start, timeout);
  }

  // Puts the queries and failures since the last call into `exchange`; sorted, as resource metrics
  // ask in parallel.
  void MoveTo(Exchange* exchange) {
    absl::MutexLock lock(&mutex_);
    exchange->promql = std::exchange(queries_, {});
    exchange->errors = std::exchange(errors_, {});
    std::sort(exchange->promql.begin(), exchange->promql.end());
    std::sort(exchange->errors.begin(), exchange->errors.end());
  }

 private:
  adapter::MetricSource& source_;
  absl::Mutex mutex_;
  std::vector<std::string> queries_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> errors_ ABSL_GUARDED_BY(mutex_);
};

class Bench {
 public:
  Bench(FixedDirectory& directory, absl::Time now)
      : clock_(now),
        // A query may look back to the first sample of a test file.
        store_({.retention_ms = std::numeric_limits<int64_t>::max() / 2, .out_of_order_ms = 0}),
        live_(store_),
        recorder_(live_),
        relister_({.source = recorder_,
                   .directory = directory,
                   .clock = clock_,
                   // At once and on this thread, so that one Step is one whole round.
                   .run = [](const std::function<void()>& task) { task(); },
                   .wake = [] {}},
                  adapter::RelistOptions()),
        // Each request asks anew.
        batcher_(recorder_, clock_, {.flights = {.freshness = absl::ZeroDuration()}}, nullptr),
        values_(adapter::NanValue::kZero, clock_, nullptr),
        complaints_(clock_, absl::Seconds(10)),
        failures_(clock_, complaints_, nullptr),
        answering_{relister_, directory, batcher_, values_, clock_, complaints_, failures_},
        pool_(2),
        authenticator_(nullptr, &clock_),
        authorizer_({.mode = apiservice::AuthorizationMode::kAll}, nullptr, &clock_, 0),
        health_({}),
        documents_({}, &health_, {}, [] { return 0; }, &clock_),
        metrics_(&clock_, {.response_cache_entries = 0}),
        handler_({}, {.clock = &clock_,
                      .authenticator = &authenticator_,
                      .authorizer = &authorizer_,
                      .documents = &documents_,
                      .metrics = &metrics_,
                      .self_metrics = &self_metrics_,
                      .providers = [this] { return providers_; },
                      .metrics_text = [] { return std::string(); },
                      .debug_rules = nullptr,
                      .debug_decisions = nullptr,
                      .pages = {}}) {}

  absl::Status Load(const RuleTestFile& file) {
    for (const InputSeries& series : file.input_series) {
      absl::Time time = absl::UnixEpoch();
      for (const auto& value : series.values) {
        if (time > clock_.WallNow()) break;
        const int64_t time_ms = absl::ToUnixMillis(time);
        if (value) RETURN_IF_ERROR(store_.Append(series.labels, {time_ms, *value}, time_ms));
        time += file.interval;
      }
    }
    return absl::OkStatus();
  }

  void SetRules(std::shared_ptr<const rules::CompiledRules> rules) {
    relister_.SetRules(rules);
    relister_.Step();
    if (!rules->custom.empty()) {
      providers_.custom = std::make_shared<adapter::CustomProvider>(answering_);
    }
    if (!rules->external.empty()) {
      providers_.external = std::make_shared<adapter::ExternalProvider>(answering_);
    }
    if (rules->resource) {
      providers_.resource = std::make_shared<adapter::ResourceProvider>(
          adapter::ResourceProvider::Deps{.answering = answering_, .pool = pool_},
          *rules->resource);
    }
  }

  Exchange Get(absl::string_view target) {
    http::HttpRequest request;
    request.method = "GET";
    request.target = std::string(target);
    const http::HttpResponse response = handler_.Handle(request);
    Exchange exchange;
    exchange.code = response.status;
    if (response.body != nullptr) exchange.body = *response.body;
    recorder_.MoveTo(&exchange);
    for (const adapter::RuleStatus& status : relister_.Statuses()) {
      if (status.error.empty()) continue;
      exchange.discovery.push_back(absl::StrCat(status.where, ": ", status.error));
    }
    return exchange;
  }

 private:
  SimulatedClock clock_;
  live::Store store_;
  adapter::Live live_;
  RecordingSource recorder_;
  adapter::Relister relister_;
  adapter::QueryBatcher batcher_;
  adapter::ValueGuard values_;
  LogLimiter complaints_;
  adapter::RuleFailures failures_;
  const adapter::Answering answering_;
  WorkerPool pool_;
  adapter::Providers providers_;

  // Everybody may everything; nothing is remembered from one request to the next.
  apiservice::Authenticator authenticator_;
  apiservice::Authorizer authorizer_;
  const apiservice::HealthChecks health_;
  apiservice::DocumentEndpoints documents_;
  apiservice::MetricEndpoints metrics_;
  apiservice::SelfMetrics self_metrics_;
  apiservice::RequestHandler handler_;
};

}  // namespace

absl::StatusOr<Exchange> AskRules(std::shared_ptr<const rules::CompiledRules> rules,
                                  const RuleTestFile& file, FixedDirectory& directory,
                                  absl::Duration eval_time, absl::string_view request) {
  Bench bench(directory, absl::UnixEpoch() + eval_time);
  RETURN_IF_ERROR(bench.Load(file));
  bench.SetRules(std::move(rules));
  return bench.Get(request);
}

}  // namespace flyball::rule_tests
