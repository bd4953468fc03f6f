// Scrapes thousands of targets, each at its own ticks.
//
// Thread-safe. Threads: one that begins the scrapes that are due, and two pools that fetch. A
// target that was slow, or did not answer, is fetched by the second pool until it is quick again,
// so that hanging targets delay only each other. In each pool the annotated pods of one namespace
// leave threads for those of others. A target has one scrape at a time; of the ticks that it misses
// meanwhile, only the last one is made up for.
//
// A new target is scraped within a second (within a few if very many are new), then at the ticks at
// which Prometheus would scrape it: its hash determines where in the interval these are, so that
// targets are spread. Prometheus itself waits for the first tick. A target that is gone gets its
// staleness markers when its next samples would be late, stamped with the tick that it missed.
//
// Why a target fails is logged once, until it succeeds: one line for each job in ten seconds.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "adapter/live/scrape/target_scraper.h"
#include "base/byte_budget.h"
#include "base/clock.h"
#include "base/lanes.h"
#include "base/log_limiter.h"
#include "base/repeating_thread.h"
#include "base/worker_pool.h"

namespace flyball::scrape {

struct SchedulerOptions {
  int quick_threads = 96;
  int slow_threads = 64;
  absl::Duration slow = absl::Seconds(1);           // slower targets go to the second pool
  absl::Duration first_within = absl::Seconds(1);   // for a new target
  int new_targets_per_second = 500;                 // more wait longer, up to their interval,
  absl::Duration first_at_most = absl::Seconds(5);  // and up to this
  uint64_t seed = 0;  // of this server, so that others scrape the same targets at other times
  // The limit on the bytes of all series' names and labels, once for the jobs that pods have asked
  // for and once for all others. The limit for samples of pages that are being read is an eighth of
  // it for the former and half of it for the latter. Of the former no namespace gets all.
  size_t max_bytes = size_t{1} << 30;
};

// The state of one target.
struct TargetState {
  Target target;
  std::string job;
  absl::Time last_scrape = absl::InfinitePast();  // InfinitePast: none yet
  ScrapeResult last;
};

class Scheduler {
 public:
  // Clock and store outlive it.
  Scheduler(Clock& clock, SampleStore& store, MakeFetcher make_fetcher, SchedulerOptions options);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Sets the targets of the job with that name. Targets that it already had continue unchanged,
  // unless `job` is another object: then new scrapers begin, and series that these do not have end
  // like those of a target that is gone. If `targets` are incomplete, targets of an earlier object
  // that are not among them continue.
  void Replace(const std::shared_ptr<const Job>& job, const Targets& targets);
  // Changes some of the targets: `targets` are added or stay, and those with the hashes `gone` are
  // removed. Replace was called with this very `job` before, and with `targets` equally complete.
  void Change(const std::shared_ptr<const Job>& job, const Targets& targets,
              const std::vector<uint64_t>& gone);
  // Whether the last targets of each job were complete.
  bool HasAllTargets() const;
  // Removes the job and its targets.
  void Remove(const std::string& job_name);

  // Totals of all scrapes since this object was made.
  struct Totals {
    uint64_t scrapes = 0;
    uint64_t failed = 0;   // scrapes
    uint64_t samples = 0;  // of scrapes that did not fail: kept by the rules of the job
    uint64_t no_room = 0;  // of scrapes that failed since the store takes no more series
  };
  Totals totals() const;

  // The targets of all jobs, unsorted.
  std::vector<TargetState> States() const;

 private:
  struct Scheduled;
  using ScheduledPtr = std::shared_ptr<Scheduled>;
  using Key = std::pair<std::string, uint64_t>;  // job, hash of the target

  TargetBudgets BudgetsFor(const Job& job, const std::string& ns);
  RepeatingThread::Next BeginDue();
  void Run(const ScheduledPtr& scheduled);
  // Whether its failure is to be told now.
  bool IsNews(Scheduled& scheduled, const absl::Status& failure)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Those targets of the job are active from now on.
  void Activate(const std::shared_ptr<const Job>& job, const Targets& targets)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Tells targets of the job that are gone which of these go on with their series.
  void NameSuccessors(const std::string& job_name, const Targets& targets)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The active target that goes on with the series; nullptr: there is none.
  ScheduledPtr SuccessorOf(const Scheduled& ending) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // How much later than its tick its markers may be due, for the sake of its successor; nullopt: it
  // need not wait.
  std::optional<absl::Duration> WaitForSuccessor(const Scheduled& ending) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ScheduleFirst(const ScheduledPtr& scheduled, size_t new_targets)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ScheduleNext(const ScheduledPtr& scheduled) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The wall time of its tick, also if the clock was set after the tick was determined.
  absl::Time TickOf(const Scheduled& scheduled) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Adds it to `due_`, `later` than its tick.
  void Enqueue(const ScheduledPtr& scheduled, absl::Duration later = absl::ZeroDuration())
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Clock& clock_;
  SampleStore& store_;
  const MakeFetcher make_fetcher_;
  const SchedulerOptions options_;
  NamespaceBudgets series_of_pods_, samples_of_pods_;
  const TargetBudgets others_;
  LogLimiter complaints_;  // by job
  mutable absl::Mutex mutex_;
  std::map<Key, ScheduledPtr> targets_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> incomplete_ ABSL_GUARDED_BY(mutex_);  // jobs
  Totals totals_ ABSL_GUARDED_BY(mutex_);
  // All but those that are being scraped.
  std::multimap<MonotonicTime, ScheduledPtr> due_ ABSL_GUARDED_BY(mutex_);
  WorkerPool quick_, slow_;
  Lanes quick_lanes_, slow_lanes_;
  RepeatingThread thread_;  // last: it uses the others
};

}  // namespace flyball::scrape
