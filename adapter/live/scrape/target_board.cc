#include "adapter/live/scrape/target_board.h"

#include <utility>

#include "spdlog/spdlog.h"

namespace flyball::scrape {
namespace {

std::vector<std::shared_ptr<const Job>> Shared(const std::vector<Job>& jobs) {
  std::vector<std::shared_ptr<const Job>> shared;
  for (const Job& job : jobs) shared.push_back(std::make_shared<const Job>(job));
  return shared;
}

}  // namespace

TargetBoard::TargetBoard(Clock& clock, Scheduler& scheduler, const std::vector<Job>& jobs)
    : clock_(clock),
      scheduler_(scheduler),
      jobs_(Shared(jobs)),
      of_jobs_(jobs.size()),
      thread_(clock, [this] { return Flush(); }) {
  for (size_t i = 0; i < jobs.size(); ++i) {
    of_jobs_[i].incomplete =
        jobs[i].kubernetes_discoveries.size() + jobs[i].file_discoveries.size();
    Put(i, "static", jobs[i].static_groups);
  }
  thread_.Start();
}

void TargetBoard::Put(size_t job, const std::string& discovery,
                      const std::vector<TargetGroup>& groups) {
  for (const TargetGroup& group : groups) {
    Targets targets = MakeTargets(*jobs_[job], {&group, 1});
    const size_t left_out = targets.left_out;
    const bool warns = of_jobs_[job].targets.Put({discovery, group.source}, std::move(targets));
    if (warns && clock_.MonotonicNow() >= next_warning_) {
      next_warning_ = clock_.MonotonicNow() + kWarnEvery;
      spdlog::warn("{} of {}: only the first {} targets are scraped, {} are left out", group.source,
                   jobs_[job]->name, kMaxTargetsOfPod, left_out);
    }
  }
  of_jobs_[job].changed = true;
}

void TargetBoard::Change(size_t job, const std::string& discovery,
                         const std::vector<TargetGroup>& groups) {
  if (groups.empty()) return;
  absl::MutexLock lock(&mutex_);
  Put(job, discovery, groups);
}

void TargetBoard::Complete(size_t job) {
  absl::MutexLock lock(&mutex_);
  OfJob& of_job = of_jobs_[job];
  --of_job.incomplete;
  of_job.changed = of_job.tell_all = true;
}

absl::Duration TargetBoard::Flush() {
  for (size_t i = 0; i < jobs_.size(); ++i) {
    Targets told;
    std::vector<uint64_t> gone;
    bool all = false;
    {
      absl::MutexLock lock(&mutex_);
      OfJob& of_job = of_jobs_[i];
      if (!std::exchange(of_job.changed, false)) continue;
      JobTargets::Changes changes = of_job.targets.TakeChanges();
      const uint64_t limit = jobs_[i]->limits.targets;
      told.incomplete = of_job.incomplete > 0;
      told.over_limit = limit > 0 && of_job.targets.size() > limit;
      // Over the limit no target of the job is asked.
      const bool was_over_limit = std::exchange(of_job.over_limit, told.over_limit);
      all = std::exchange(of_job.tell_all, false) || told.over_limit != was_over_limit;
      told.active = all ? of_job.targets.All() : std::move(changes.added);
      gone = std::move(changes.gone);
    }
    if (all) {
      scheduler_.Replace(jobs_[i], told);
    } else {
      scheduler_.Change(jobs_[i], told, gone);
    }
  }
  return kGather;
}

}  // namespace flyball::scrape
