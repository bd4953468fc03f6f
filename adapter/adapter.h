// The adapter floor as one object: rules, a metric source and an object directory in, the providers
// of the three metrics APIs out.
//
// Thread-safe. Threads: one that relists and cleans up, from Start to Stop; up to
// max_series_queries that ask for series; up to max_parallel that help with resource metrics.
// Requests run on the caller's threads. The source, the directory, the clock and the metrics
// outlive the adapter; providers that were handed out may be used until the adapter is destroyed,
// also after Stop.
//
// Reload: SetRules swaps in new rules; providers() changes with them, requests under way end with
// the old ones. An API whose part of the rules is empty has no provider.
#pragma once

#include <memory>
#include <vector>

#include "adapter/metric_source.h"
#include "adapter/metrics.h"
#include "adapter/provider.h"
#include "adapter/query_batcher.h"
#include "adapter/relist.h"
#include "adapter/value_guard.h"
#include "base/clock.h"
#include "kube/objects/object_directory.h"
#include "rules/compiled_rules.h"

namespace flyball::adapter {

struct AdapterOptions {
  RelistOptions relist = {};             // --metrics-relist-interval, --metrics-max-age
  BatcherOptions queries = {};           // --query-freshness, --query-merge
  NanValue nan_value = NanValue::kZero;  // --nan-value
  // More would not be faster: a Prometheus of two cores was slower with 16 than with 2.
  int max_series_queries = 4;  // at once
  int max_parallel = 8;        // namespaces of resource metrics at once
};

class Adapter {
 public:
  struct Deps {
    MetricSource& source;
    kube::ObjectDirectory& directory;
    Clock& clock;
    AdapterMetrics* metrics = nullptr;  // may be nullptr
  };

  Adapter(const Deps& deps, AdapterOptions options,
          std::shared_ptr<const rules::CompiledRules> rules);
  ~Adapter();  // stops
  Adapter(const Adapter&) = delete;
  Adapter& operator=(const Adapter&) = delete;

  // Begins to relist; the first round at once.
  void Start();
  // Ends relisting: waits for series queries under way, at most their timeout. Shutting the metric
  // source down first ends them at once.
  void Stop();

  void SetRules(std::shared_ptr<const rules::CompiledRules> rules);

  Providers providers() const;

  // One for each rule, `rules` before `externalRules`.
  std::vector<RuleStatus> RuleStatuses() const;

  // Each series query of the first rules has ended once, well or not, and the registry knows the
  // directory's resources.
  bool ready() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace flyball::adapter
