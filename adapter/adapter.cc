#include "adapter/adapter.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "adapter/answering.h"
#include "adapter/custom_provider.h"
#include "adapter/external_on_failure.h"
#include "adapter/external_provider.h"
#include "adapter/resource_provider.h"

namespace flyball::adapter {
namespace {

constexpr absl::Duration kSweepEvery = absl::Seconds(2);
// Least time between two log lines of one kind.
constexpr absl::Duration kComplainEvery = absl::Seconds(10);
// Queries at once. More would not be faster: a Prometheus of two cores took longer with 16 than 2.
constexpr int kSeriesQueries = 4;

// For the rules that only the live source answers, where Prometheus answers others; else nullptr.
std::unique_ptr<WorkerPool> LivePool(MetricSource& source) {
  using rules::SourceChoice;
  if (&source.Of(SourceChoice::kLive) == &source.Of(SourceChoice::kPrometheus)) return nullptr;
  return std::make_unique<WorkerPool>(1);
}

std::function<void(std::function<void()>)> SubmitTo(WorkerPool* pool) {
  if (pool == nullptr) return nullptr;
  return [pool](std::function<void()> task) { pool->Submit(std::move(task)); };
}

}  // namespace

Adapter::Adapter(const Deps& deps, const AdapterOptions& options,
                 std::shared_ptr<const rules::CompiledRules> rules)
    : tells_of_samples_(deps.source.TellsOfSamples()),
      resource_(deps.resource),
      askers_(deps.askers),
      directory_(deps.directory),
      clock_(deps.clock),
      request_pool_(ResourceProvider::kMaxParallel),
      series_pool_(kSeriesQueries),
      live_pool_(LivePool(deps.source)),
      next_sweep_(clock_.MonotonicNow() + kSweepEvery),
      thread_(clock_, [this] { return Step(); }),
      relister_({.source = deps.source,
                 .directory = deps.directory,
                 .clock = deps.clock,
                 .metrics = deps.metrics,
                 .run = SubmitTo(&series_pool_),
                 .run_live = SubmitTo(live_pool_.get()),
                 .wake = [this] { thread_.Wake(); }},
                options.relist),
      batcher_(deps.source, deps.clock, options.queries, deps.metrics),
      values_(options.nan_value, deps.clock, deps.metrics),
      complaints_(deps.clock, kComplainEvery),
      kept_(clock_.MonotonicNow()),
      failures_(deps.clock, complaints_, deps.metrics) {
  SetRules(std::move(rules));
}

void Adapter::Stop() {
  thread_.Stop();
  // Stopped after the thread, which submits their tasks.
  series_pool_.Stop();
  if (live_pool_ != nullptr) live_pool_->Stop();
}

void Adapter::SetRules(std::shared_ptr<const rules::CompiledRules> rules) {
  absl::MutexLock lock(&reload_mutex_);
  // The registry has the new rules before the providers do.
  relister_.SetRules(rules);
  failures_.Forget();
  auto providers = std::make_shared<Providers>();
  providers->tell_of_samples = tells_of_samples_;
  const Answering answering = {relister_, directory_,  batcher_, values_,
                               clock_,    complaints_, failures_};
  if (!rules->custom.empty()) providers->custom = std::make_shared<CustomProvider>(answering);
  if (!rules->external.empty()) {
    providers->external = std::make_shared<ExternalProvider>(answering, &request_pool_);
    if (std::any_of(rules->external.begin(), rules->external.end(),
                    [](const auto& rule) { return rule->on_failure.has_value(); })) {
      providers->external = std::make_shared<ExternalOnFailure>(
          answering, kept_, rules, std::move(providers->external), askers_);
    }
  }
  // Each answer of metrics.k8s.io names objects of these.
  std::vector<kube::ObjectSet> kept;
  if (rules->resource || resource_ != nullptr) {
    kept = {{.resource = {.group = "", .resource = "nodes"}, .running_only = false},
            {.resource = {.group = "", .resource = "pods"}, .running_only = true}};
  }
  directory_.Keep(std::move(kept));
  providers->resource = resource_;
  if (rules->resource) {
    providers->resource = std::make_shared<ResourceProvider>(
        ResourceProvider::Deps{
            .answering = answering, .pool = request_pool_, .merge = batcher_.merges()},
        *rules->resource);
  }
  providers_.Set(std::move(providers));
}

std::vector<RuleStatus> Adapter::RuleStatuses() const {
  std::vector<RuleStatus> statuses = relister_.Statuses(/*with_metrics=*/true);
  for (RuleStatus& status : statuses) {
    status.last_failure = failures_.Of({status.list, status.index});
  }
  return statuses;
}

absl::Duration Adapter::Step() {
  const absl::Duration wait = relister_.Step();
  if (const MonotonicTime now = clock_.MonotonicNow(); now >= next_sweep_) {
    batcher_.Sweep();
    next_sweep_ = now + kSweepEvery;
  }
  return wait;
}

}  // namespace flyball::adapter
