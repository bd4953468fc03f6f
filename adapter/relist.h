// Keeps the series registry up to date: asks the metric source for each rule's series and swaps in
// a new registry when anything changed.
//
// Threads: the owner of a Relister calls Step from one thread, again when the returned time is over
// or when `wake` was called; the series queries run where `run` puts them. SetRules and the readers
// may be called from any thread. No lock is held during a query.
//
// Source: prometheus-adapter 0.12.0. Differs on purpose:
//   - Each distinct series query is independent: one that fails keeps its rules' last good series
//     and delays no other. `rules` and `externalRules` share equal queries.
//   - A failed query is asked again after 1 s, 2 s, 4 s ... and at most retry_max or the interval.
//   - New rules keep what equal series queries had found. A new REST mapping is applied to the
//     known series without a query.
//
// Limits: as many queries at once as `run` and `run_live` have threads, and one at a time for each
// series query.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "adapter/metrics.h"
#include "adapter/queries/metric_source.h"
#include "adapter/relist_status.h"
#include "adapter/series_registry.h"
#include "base/clock.h"
#include "base/snapshot.h"
#include "kube/objects/object_directory.h"
#include "rules/compiled_rules.h"

namespace flyball::adapter {

struct RelistOptions {
  absl::Duration interval = absl::Minutes(10);    // from the start of one query to the next
  absl::Duration max_age = absl::ZeroDuration();  // of series; zero: the interval
  absl::Duration timeout = absl::Seconds(60);     // of a series query
  absl::Duration patience = absl::Seconds(60);    // with one, until the first round counts as done
  absl::Duration retry_min = absl::Seconds(1);
  absl::Duration retry_max = absl::Seconds(60);
};

class Relister {
 public:
  struct Deps {
    MetricSource& source;
    kube::ObjectDirectory& directory;
    Clock& clock;
    AdapterMetrics* metrics = nullptr;  // may be nullptr
    // Runs a task, now or later, on this thread or another.
    std::function<void(std::function<void()>)> run;
    // Does the same for queries that only the live source answers, so that they do not wait for
    // those to Prometheus; null: `run`.
    std::function<void(std::function<void()>)> run_live = nullptr;
    // Called when Step has something to do before its time; must not call back.
    std::function<void()> wake;
  };

  Relister(Deps deps, RelistOptions options);

  // The registry holds the new rules when this returns.
  void SetRules(std::shared_ptr<const rules::CompiledRules> rules);

  // The live source has new series: the queries that it answers are due now, and one that is under
  // way is repeated afterwards. Their regular times and the wait after a failure stay the same.
  void AskNow();
  // The duration of the last attempts of the queries that AskNow asks, in all.
  absl::Duration AskNowTook() const;

  // Starts the queries that are due and applies their results. Returns when to call it again.
  absl::Duration Step();

  // Never nullptr.
  std::shared_ptr<const SeriesRegistry> registry() const { return registry_.Get(); }
  // Grows after each change of the registry.
  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

  // `with_metrics`: includes the metrics that each rule offers, which takes time in proportion to
  // them.
  std::vector<RuleStatus> Statuses(bool with_metrics = false) const;

  // Whether every series query of the first rules has ended once, with success or not, or been
  // under way for `patience`, and the resources are known.
  bool first_round_done() const { return first_round_done_.load(std::memory_order_acquire); }

 private:
  // One distinct series query and its last result. Guarded by mutex_.
  struct Query {
    std::string selector;
    rules::SourceChoice choice = rules::SourceChoice::kAny;
    std::shared_ptr<const SeriesTable> series;  // nullptr before the first success
    std::optional<absl::Time> last_success;
    absl::Duration duration;
    std::string error;
    int failures = 0;
    bool attempted = false;
    bool running = false;
    MonotonicTime started;
    bool again = false;  // to be asked again once the one under way has ended
    MonotonicTime due;
    MonotonicTime relist;  // the next regular time
  };

  // Whether new series of the live source may be among its series.
  bool ReadsLive(const Query& query) const;

  void Run(const std::shared_ptr<Query>& query);
  void Record(Query& query, absl::StatusOr<std::shared_ptr<const SeriesTable>> found,
              MonotonicTime started, absl::Time at) ABSL_LOCKS_EXCLUDED(mutex_);
  // Time until Step is due. `tell`: set once the rules in force have all been asked for once.
  absl::Duration NextStep(bool& tell) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Duration RetryAfter(int failures) const;
  void Rebuild() ABSL_LOCKS_EXCLUDED(mutex_);
  std::vector<DiscoveredRule> Discovered(
      const std::vector<std::shared_ptr<const rules::CompiledRule>>& rules) const
      ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  // Logs once what the rules in force have found.
  void TellFindings() const ABSL_LOCKS_EXCLUDED(mutex_);
  void AppendStatuses(const char* list,
                      const std::vector<std::shared_ptr<const rules::CompiledRule>>& rules,
                      const std::vector<size_t>& counts, std::vector<RuleStatus>& out) const
      ABSL_SHARED_LOCKS_REQUIRED(mutex_);

  const Deps deps_;
  const RelistOptions options_;

  absl::Mutex build_mutex_;  // one build at a time; taken before mutex_
  mutable absl::Mutex mutex_;
  std::shared_ptr<const rules::CompiledRules> rules_ ABSL_GUARDED_BY(mutex_);
  // By selector and source.
  using QueryKey = std::pair<std::string, rules::SourceChoice>;
  static QueryKey KeyOf(const rules::CompiledRule& rule) {
    return {rule.series_query, rule.source};
  }
  std::map<QueryKey, std::shared_ptr<Query>> queries_ ABSL_GUARDED_BY(mutex_);
  bool changed_ ABSL_GUARDED_BY(mutex_) = true;  // the registry has to be rebuilt
  bool told_ ABSL_GUARDED_BY(mutex_) = true;     // what the rules found was logged
  MonotonicTime built_at_ ABSL_GUARDED_BY(mutex_) = -absl::InfiniteDuration();
  std::shared_ptr<const kube::RestMapper> mapper_ ABSL_GUARDED_BY(mutex_);

  Snapshot<SeriesRegistry> registry_;
  std::atomic<uint64_t> generation_{1};
  std::atomic<bool> first_round_done_{false};
};

}  // namespace flyball::adapter
