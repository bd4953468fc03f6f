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

TargetBoard::TargetBoard(Clock& clock, Scheduler& scheduler, const std::vector<Job>& jobs,
                         size_t max_bytes_for_pods)
    : clock_(clock),
      scheduler_(scheduler),
      jobs_(Shared(jobs)),
      memory_for_pods_(max_bytes_for_pods),
      of_jobs_(jobs.size()),
      thread_(clock, [this] { return Flush(); }) {
  for (size_t i = 0; i < jobs.size(); ++i) {
    of_jobs_[i].incomplete =
        jobs[i].kubernetes_discoveries.size() + jobs[i].file_discoveries.size();
    Change(i, "static", jobs[i].static_groups);
  }
  thread_.Start();
}

bool TargetBoard::Put(size_t job, const std::string& discovery, const TargetGroup& group) {
  const Job& settings = *jobs_[job];
  Targets targets = MakeTargets(settings, {&group, 1});
  const size_t too_many = targets.left_out;
  std::shared_ptr<ByteBudget> budget;
  if (settings.asked_for_by_pods && !targets.active.empty()) {
    budget = memory_for_pods_.Of(NamespaceOf(settings, targets.active.front()));
  }
  const JobTargets::LeftOut left_out =
      of_jobs_[job].targets.Put({discovery, group.source}, std::move(targets), budget);
  if (left_out.begins && clock_.MonotonicNow() >= next_warning_) {
    next_warning_ = clock_.MonotonicNow() + kWarnEvery;
    if (left_out.without_room > 0) {
      spdlog::warn(
          "{} of {}: {} targets are not scraped: the targets of its namespace have all "
          "the room that they may have (see --live-max-bytes)",
          group.source, settings.name, left_out.without_room);
    } else {
      spdlog::warn("{} of {}: only the first {} targets are scraped, {} are left out", group.source,
                   settings.name, kMaxTargetsOfPod, too_many);
    }
  }
  return left_out.without_room == 0;
}

std::vector<size_t> TargetBoard::Change(size_t job, const std::string& discovery,
                                        const std::vector<TargetGroup>& groups) {
  std::vector<size_t> without_room;
  if (groups.empty()) return without_room;
  absl::MutexLock lock(&mutex_);
  for (size_t i = 0; i < groups.size(); ++i) {
    if (!Put(job, discovery, groups[i])) without_room.push_back(i);
  }
  of_jobs_[job].changed = true;
  return without_room;
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
