#include "adapter/adapter.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "adapter/answering.h"
#include "adapter/custom_provider.h"
#include "adapter/external_provider.h"
#include "adapter/resource_provider.h"
#include "base/repeating_thread.h"
#include "base/snapshot.h"
#include "base/worker_pool.h"

namespace flyball::adapter {
namespace {

constexpr absl::Duration kSweepEvery = absl::Seconds(2);
// One complaint of a kind in this time.
constexpr absl::Duration kComplainEvery = absl::Seconds(10);

}  // namespace

class Adapter::Impl {
 public:
  Impl(const Deps& deps, const AdapterOptions& options)
      : options_(options),
        directory_(deps.directory),
        clock_(deps.clock),
        request_pool_(options.max_parallel),
        next_sweep_(clock_.MonotonicNow() + kSweepEvery),
        thread_(clock_, [this] { return Step(); }),
        relister_({.source = deps.source,
                   .directory = deps.directory,
                   .clock = deps.clock,
                   .metrics = deps.metrics,
                   .run = [this](std::function<void()> task) { RunTask(std::move(task)); },
                   .wake = [this] { thread_.Wake(); }},
                  options.relist),
        batcher_(deps.source, deps.clock, options.queries, deps.metrics),
        values_(options.nan_value, deps.clock, deps.metrics),
        complaints_(deps.clock, kComplainEvery) {
    series_pool_.emplace(options.max_series_queries);
  }
  ~Impl() { Stop(); }

  void Start() { thread_.Start(); }

  void Stop() {
    thread_.Stop();
    // After the loop, which hands out tasks. Ends those under way.
    series_pool_.reset();
  }

  void SetRules(std::shared_ptr<const rules::CompiledRules> rules) {
    // Reloads one after the other; the registry has the new rules before the providers do.
    absl::MutexLock lock(&reload_mutex_);
    relister_.SetRules(rules);
    auto providers = std::make_shared<Providers>();
    const Answering answering = {relister_, directory_, batcher_, values_, clock_, complaints_};
    if (!rules->custom.empty()) providers->custom = std::make_shared<CustomProvider>(answering);
    if (!rules->external.empty()) {
      providers->external = std::make_shared<ExternalProvider>(answering, &request_pool_);
    }
    // Each answer of metrics.k8s.io names objects of these.
    std::vector<kube::ObjectSet> kept;
    if (rules->resource) {
      kept = {{.resource = {.group = "", .resource = "nodes"}, .running_only = false},
              {.resource = {.group = "", .resource = "pods"}, .running_only = true}};
    }
    directory_.Keep(std::move(kept));
    if (rules->resource) {
      providers->resource = std::make_shared<ResourceProvider>(
          ResourceProvider::Deps{.answering = answering,
                                 .pool = request_pool_,
                                 .max_parallel = static_cast<size_t>(options_.max_parallel),
                                 .merge = options_.queries.merge},
          *rules->resource);
    }
    providers_.Set(std::move(providers));
  }

  Providers providers() const { return *providers_.Get(); }
  const Relister& relister() const { return relister_; }

 private:
  // Only ever called by the loop, which has ended before the pool goes.
  void RunTask(std::function<void()> task) { series_pool_->Submit(std::move(task)); }

  absl::Duration Step() {
    const absl::Duration wait = relister_.Step();
    if (const MonotonicTime now = clock_.MonotonicNow(); now >= next_sweep_) {
      batcher_.Sweep();
      next_sweep_ = now + kSweepEvery;
    }
    return wait;
  }

  const AdapterOptions options_;
  kube::ObjectDirectory& directory_;
  Clock& clock_;
  WorkerPool request_pool_;
  std::optional<WorkerPool> series_pool_;

  MonotonicTime next_sweep_;  // the thread's own
  RepeatingThread thread_;

  Relister relister_;
  QueryBatcher batcher_;
  ValueGuard values_;
  LogLimiter complaints_;

  absl::Mutex reload_mutex_;
  Snapshot<Providers> providers_;
};

Adapter::Adapter(const Deps& deps, AdapterOptions options,
                 std::shared_ptr<const rules::CompiledRules> rules)
    : impl_(std::make_unique<Impl>(deps, options)) {
  impl_->SetRules(std::move(rules));
}

Adapter::~Adapter() = default;

void Adapter::Start() { impl_->Start(); }
void Adapter::Stop() { impl_->Stop(); }
void Adapter::SetRules(std::shared_ptr<const rules::CompiledRules> rules) {
  impl_->SetRules(std::move(rules));
}
Providers Adapter::providers() const { return impl_->providers(); }
std::vector<RuleStatus> Adapter::RuleStatuses() const { return impl_->relister().Statuses(); }
bool Adapter::ready() const { return impl_->relister().first_round_done(); }

}  // namespace flyball::adapter
