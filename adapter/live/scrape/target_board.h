// Collects the groups of targets of all jobs from the discoveries and passes them to the scheduler.
//
// Thread-safe. A change reaches the scheduler within kGather, together with others that came
// meanwhile, since a rollout causes many. Each group is relabelled once for each change of it. The
// targets of an earlier board stay until each discovery of their job has reported all of its own,
// since an API server may be unreachable, or a file may have an error. After that only changes are
// passed to the scheduler.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "adapter/live/scrape/job_targets.h"
#include "adapter/live/scrape/scheduler.h"
#include "adapter/live/scrape/targets.h"
#include "base/byte_budget.h"
#include "base/clock.h"
#include "base/repeating_thread.h"

namespace flyball::scrape {

class TargetBoard {
 public:
  static constexpr absl::Duration kGather = absl::Milliseconds(250);
  // The least time between two log lines about pods of which targets are left out.
  static constexpr absl::Duration kWarnEvery = absl::Seconds(10);

  // Begins with the static groups of the jobs, and waits for Complete of each of their discoveries,
  // in clusters and in files. The targets that pods ask for take no more memory than
  // `max_bytes_for_pods`, and no namespace gets all of it. Clock and scheduler outlive it.
  TargetBoard(Clock& clock, Scheduler& scheduler, const std::vector<Job>& jobs,
              size_t max_bytes_for_pods = size_t{128} << 20);

  const std::vector<std::shared_ptr<const Job>>& jobs() const { return jobs_; }

  // Replaces the groups with the same sources; a group without targets is removed. `job` is an
  // index of jobs(), `discovery` identifies one of the job's discoveries. Returns the indexes of
  // groups with targets for which there is no memory now: once others are gone there may be.
  std::vector<size_t> Change(size_t job, const std::string& discovery,
                             const std::vector<TargetGroup>& groups);
  // One of the job's discoveries has reported all of its targets, for the first time.
  void Complete(size_t job);

 private:
  struct OfJob {
    JobTargets targets;
    size_t incomplete = 0;  // number of such discoveries
    bool changed = true;    // since the scheduler was told; at first it has been told nothing
    bool tell_all = true;   // and not only the changes
    bool over_limit = false;
  };

  // Whether there is memory for all of its targets.
  bool Put(size_t job, const std::string& discovery, const TargetGroup& group)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Duration Flush();

  Clock& clock_;
  Scheduler& scheduler_;
  const std::vector<std::shared_ptr<const Job>> jobs_;
  NamespaceBudgets memory_for_pods_;
  absl::Mutex mutex_;
  std::vector<OfJob> of_jobs_ ABSL_GUARDED_BY(mutex_);
  MonotonicTime next_warning_ ABSL_GUARDED_BY(mutex_) = -absl::InfiniteDuration();
  RepeatingThread thread_;  // last: it uses the others
};

}  // namespace flyball::scrape
