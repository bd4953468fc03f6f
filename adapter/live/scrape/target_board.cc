#include "adapter/live/scrape/target_board.h"

#include <utility>

#include "absl/container/flat_hash_set.h"
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
      groups_(jobs.size()),
      changed_(jobs.size(), false),
      thread_(clock, [this] { return Flush(); }) {
  for (const Job& job : jobs) {
    incomplete_.push_back(job.kubernetes_discoveries.size() + job.file_discoveries.size());
  }
  for (size_t i = 0; i < jobs.size(); ++i) Put(i, "static", jobs[i].static_groups);
  thread_.Start();
}

void TargetBoard::Put(size_t job, const std::string& discovery,
                      const std::vector<TargetGroup>& groups) {
  for (const TargetGroup& group : groups) {
    Targets targets = MakeTargets(*jobs_[job], {&group, 1});
    if (targets.active.empty()) {
      groups_[job].erase({discovery, group.source});
      continue;
    }
    Targets& known = groups_[job][{discovery, group.source}];
    const bool is_new = targets.left_out > 0 && known.left_out == 0;
    if (is_new && clock_.MonotonicNow() >= next_warning_) {
      next_warning_ = clock_.MonotonicNow() + kWarnEvery;
      spdlog::warn("{} of {}: only the first {} targets are scraped, {} are left out", group.source,
                   jobs_[job]->name, kMaxTargetsOfPod, targets.left_out);
    }
    known = std::move(targets);
  }
  changed_[job] = true;
}

void TargetBoard::Change(size_t job, const std::string& discovery,
                         const std::vector<TargetGroup>& groups) {
  if (groups.empty()) return;
  absl::MutexLock lock(&mutex_);
  Put(job, discovery, groups);
}

void TargetBoard::Complete(size_t job) {
  absl::MutexLock lock(&mutex_);
  --incomplete_[job];
  changed_[job] = true;
}

absl::Duration TargetBoard::Flush() {
  for (size_t i = 0; i < jobs_.size(); ++i) {
    Targets all;
    {
      absl::MutexLock lock(&mutex_);
      if (!changed_[i]) continue;
      changed_[i] = false;
      all.incomplete = incomplete_[i] > 0;
      absl::flat_hash_set<uint64_t> hashes;
      for (const auto& [key, targets] : groups_[i]) {
        for (const Target& target : targets.active) {
          if (hashes.insert(target.hash).second) all.active.push_back(target);
        }
      }
    }
    const uint64_t limit = jobs_[i]->limits.targets;
    all.over_limit = limit > 0 && all.active.size() > limit;
    scheduler_.Replace(jobs_[i], all);
  }
  return kGather;
}

}  // namespace flyball::scrape
