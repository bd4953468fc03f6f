// The adapter as one object: makes the providers of the three metrics APIs from rules, a metric
// source and an object directory.
//
// Thread-safe. Threads: one that relists and cleans up, from Start to Stop; up to 4 that ask for
// series, and beside Prometheus one that asks the live source alone; up to 8 that help with
// resource and external metrics. Requests run on the caller's threads. The source, the directory,
// the clock and the metrics outlive the adapter; providers that were handed out may be used until
// the adapter is destroyed, also after Stop.
//
// Reload: SetRules swaps in new rules, and providers() changes with them; requests under way use
// the old ones to their end. An API whose part of the rules is empty has no provider.
#pragma once

#include <memory>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "adapter/kept_answers.h"
#include "adapter/metric_askers.h"
#include "adapter/metrics.h"
#include "adapter/provider.h"
#include "adapter/queries/metric_source.h"
#include "adapter/queries/query_batcher.h"
#include "adapter/relist.h"
#include "adapter/rule_failures.h"
#include "adapter/value_guard.h"
#include "base/clock.h"
#include "base/log_limiter.h"
#include "base/repeating_thread.h"
#include "base/snapshot.h"
#include "base/worker_pool.h"
#include "kube/objects/object_directory.h"
#include "rules/compiled_rules.h"

namespace flyball::adapter {

struct AdapterOptions {
  RelistOptions relist = {};             // --metrics-relist-interval, --metrics-max-age
  BatcherOptions queries = {};           // --query-freshness, --query-merge
  NanValue nan_value = NanValue::kZero;  // --nan-value
};

class Adapter {
 public:
  struct Deps {
    MetricSource& source;
    kube::ObjectDirectory& directory;
    Clock& clock;
    AdapterMetrics* metrics = nullptr;  // may be nullptr
    // Serves metrics.k8s.io if the rules have no resourceRules; nullptr: that API is off then.
    std::shared_ptr<ResourceMetricsProvider> resource = nullptr;
    // For rules whose onFailure asks for replicas; nullptr: such a metric fails.
    MetricAskers* askers = nullptr;
  };

  Adapter(const Deps& deps, const AdapterOptions& options,
          std::shared_ptr<const rules::CompiledRules> rules);
  ~Adapter() { Stop(); }
  Adapter(const Adapter&) = delete;
  Adapter& operator=(const Adapter&) = delete;

  // Starts relisting; the first round begins at once.
  void Start() { thread_.Start(); }
  // Ends relisting: waits for series queries under way, at most their timeout. Shutting the metric
  // source down first ends them at once.
  void Stop();

  void SetRules(std::shared_ptr<const rules::CompiledRules> rules);

  // Asks for series now, whatever the interval; to be called when the source has new ones.
  void RelistNow() { relister_.AskNow(); }
  // The duration of the last such round of series queries.
  absl::Duration RelistNowTook() const { return relister_.AskNowTook(); }

  Providers providers() const { return *providers_.Get(); }

  // One for each rule, `rules` before `externalRules`.
  std::vector<RuleStatus> RuleStatuses() const;

  // Whether each series query of the first rules has ended once, with success or not, and the
  // registry knows the directory's resources.
  bool ready() const { return relister_.first_round_done(); }

 private:
  // Relists and cleans up; returns when it is to be called again.
  absl::Duration Step();

  const bool tells_of_samples_;
  const std::shared_ptr<ResourceMetricsProvider> resource_;
  MetricAskers* const askers_;
  kube::ObjectDirectory& directory_;
  Clock& clock_;
  WorkerPool request_pool_;
  WorkerPool series_pool_;
  const std::unique_ptr<WorkerPool> live_pool_;
  MonotonicTime next_sweep_;  // the thread's own
  RepeatingThread thread_;

  Relister relister_;
  QueryBatcher batcher_;
  ValueGuard values_;
  LogLimiter complaints_;
  KeptAnswers kept_;  // survives reloads
  RuleFailures failures_;

  absl::Mutex reload_mutex_;  // one reload after the other
  Snapshot<Providers> providers_;
};

}  // namespace flyball::adapter
