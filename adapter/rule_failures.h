// The failed queries of each rule: for the log, /metrics and /debug/rules.
//
// Thread-safe. A query that succeeds costs an atomic load while no rule fails. Limit: one entry for
// each rule in force.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "adapter/metrics.h"
#include "adapter/rule_failure.h"
#include "base/clock.h"
#include "base/log_limiter.h"

namespace flyball::adapter {

class RuleFailures {
 public:
  // They outlive this; `metrics` may be nullptr.
  RuleFailures(Clock& clock, LogLimiter& complaints, AdapterMetrics* metrics)
      : clock_(clock), complaints_(complaints), metrics_(metrics) {}

  // Logs the failure unless a line about the metric was logged shortly before; the next line counts
  // those left out. `where` is the rule's place in its file.
  void Failed(RuleName rule, absl::string_view where, absl::string_view metric,
              const absl::Status& cause);
  void Succeeded(RuleName rule);
  // nullopt: none of its queries has failed.
  std::optional<RuleFailure> Of(RuleName rule) const;
  // To be called when other rules come into force.
  void Forget();

 private:
  using Key = std::pair<std::string, int>;
  struct Failing {
    RuleFailure failure;
    uint64_t not_logged = 0;
  };

  Clock& clock_;
  LogLimiter& complaints_;
  AdapterMetrics* const metrics_;
  std::atomic<int> failing_ = 0;  // rules with in_a_row > 0
  mutable absl::Mutex mutex_;
  std::map<Key, Failing> rules_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace flyball::adapter
