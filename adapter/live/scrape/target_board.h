// The groups of targets of all jobs, as discoveries tell them, on their way to the scheduler.
//
// Thread-safe. A change reaches the scheduler within kGather, together with those that came
// meanwhile: a rollout tells many. Each group is relabelled once for each time that it is told.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "adapter/live/scrape/scheduler.h"
#include "adapter/live/scrape/targets.h"
#include "base/clock.h"
#include "base/repeating_thread.h"

namespace flyball::scrape {

class TargetBoard {
 public:
  static constexpr absl::Duration kGather = absl::Milliseconds(250);

  // Begins with the static groups of the jobs. Clock and scheduler outlive it.
  TargetBoard(Clock& clock, Scheduler& scheduler, const std::vector<Job>& jobs);

  const std::vector<std::shared_ptr<const Job>>& jobs() const { return jobs_; }

  // The groups of these sources are these from now on, one without targets being gone. `job` is an
  // index of jobs(), `discovery` tells the job's discoveries apart.
  void Change(size_t job, const std::string& discovery, const std::vector<TargetGroup>& groups);
  // The same, and groups of other sources of the discovery are gone.
  void Replace(size_t job, const std::string& discovery, const std::vector<TargetGroup>& groups);

 private:
  using Groups = std::map<std::pair<std::string, std::string>, Targets>;  // by discovery, source

  void Put(size_t job, const std::string& discovery, const std::vector<TargetGroup>& groups)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Duration Flush();

  Scheduler& scheduler_;
  const std::vector<std::shared_ptr<const Job>> jobs_;
  absl::Mutex mutex_;
  std::vector<Groups> groups_ ABSL_GUARDED_BY(mutex_);  // by job
  std::vector<bool> changed_ ABSL_GUARDED_BY(mutex_);   // by job
  RepeatingThread thread_;                              // last: it uses the others
};

}  // namespace flyball::scrape
