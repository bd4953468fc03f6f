// The loop: which autoscalers there are, when each is due, and its cycle from step to step.
//
// Thread-safe. It has no threads of its own: Tick is called by one thread, steps run in the pools
// that it is given. A cycle is: find the scale (read_step), ask what its decision depends on
// (question_board), decide (decide_step), write the scale (act_step), report (report_step). An
// autoscaler has one cycle at a time; one that is due meanwhile waits for its next slot. Those for
// which nothing changes rest together (rest_step): they have a round in common instead.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "scaler/steady/rest_group.h"
#include "scaler/steady/rest_step.h"
#include "scaler/steps/act_step.h"
#include "scaler/steps/decide_step.h"
#include "scaler/steps/entry.h"
#include "scaler/steps/mode.h"
#include "scaler/steps/read_step.h"
#include "scaler/steps/report_step.h"
#include "scaler/steps/schedule.h"
#include "scaler/stores/autoscaler_store.h"

namespace flyball::scaler {

class Loop : public AutoscalerSink {
 public:
  struct Parts {
    Clock& clock;
    Ownership& ownership;
    PodStore& pods;
    const AutoscalerStore& autoscalers;
    const ReadStep& read;
    const DecideStep& decide;
    ActStep& act;
    const ReportStep& report;
    const RestStep& rest;
    PlanContext plan;
    QuestionBoard::Run run_decisions;
    QuestionBoard::Run run_writes;
    // Called once for each Tick; what questions are asked with.
    std::function<AskContext()> ask_context;
    // Called when somebody is due earlier than the last Tick said.
    std::function<void()> wake_up;
    std::vector<DecisionObserver*> observers;
  };
  struct Options {
    ModeFlags mode;
    absl::Duration sync_period = absl::Seconds(15);
  };

  Loop(Parts parts, const Options& options);
  ~Loop() override;

  // From the watches.
  void OnAutoscaler(ManagedPtr managed) override;
  void OnGone(const AutoscalerKey& key) override;

  // Begins the cycles that are due. When to call again at the latest.
  MonotonicTime Tick(MonotonicTime now);
  // From the board: all answers of a phase are there.
  void OnReady(absl::Span<AnswerWaiter* const> waiters);
  // Decides it as soon as possible.
  void Wake(const AutoscalerKey& key);
  // Shards were won or lost.
  void OwnershipChanged();

  struct Stats {
    size_t autoscalers = 0, owned = 0, busy = 0, resting = 0;
    uint64_t decisions = 0, unchanged = 0;
  };
  Stats stats() const;

 private:
  void BeginAll(const std::vector<Entry*>& entries, MonotonicTime now);
  bool Prepare(Entry& entry, MonotonicTime now);
  bool Continue(Entry& entry, std::vector<QuestionBoard::Handle>& to_ask);
  void DecideAll(std::vector<Entry*> entries);
  void DecideNow(Entry& entry);
  void WriteScale(Entry& entry);
  // Whether it is still what its present decision was made for.
  bool IsCurrent(const Entry& entry) const;
  void Finish(Entry& entry);
  void TakeDue(Entry& entry, MonotonicTime now, std::vector<Entry*>& due, std::vector<Entry*>& gone)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  DecideStep::Times Now() const;
  // Of those at rest.
  struct DueGroup {
    RestGroup* group = nullptr;
    bool has_round = false;  // or somebody only wants to leave
    RestStep::Change change;
  };
  // Members of those whose last round is still under way are due by themselves.
  std::vector<DueGroup> DueGroups(MonotonicTime now, std::vector<Entry*>& due,
                                  std::vector<Entry*>& gone) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void PutToRest(RestMember member);
  void Leave(Entry& entry, bool at_once) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Those that are quick go one after the other, the others each by itself.
  void AskRounds(const std::vector<DueGroup>& due, MonotonicTime now);
  struct Burst;
  void WorkOn(const std::shared_ptr<Burst>& burst, MonotonicTime now);
  void AskRound(RestGroup& group, bool here);
  void EndRound(RestGroup& group);
  void FinishRound(RestGroup& group);
  void Disown(Entry& entry);
  void Erase(Entry& entry);
  absl::Duration PeriodOf(const Managed& managed) const;
  absl::Duration SlotsOf(const Managed& managed) const;
  void Schedule(Entry& entry, MonotonicTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WakeEntry(Entry& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsNews(const Managed* before, const Managed& managed) const
      ABSL_SHARED_LOCKS_REQUIRED(mutex_);

  const Parts parts_;
  const Options options_;
  std::atomic<uint64_t> ownership_epoch_ = 0;
  std::atomic<uint64_t> decisions_ = 0;
  std::atomic<uint64_t> unchanged_ = 0;
  std::vector<std::shared_ptr<Burst>> bursts_;  // not yet worked off; of the thread that calls Tick
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<AutoscalerKey, std::unique_ptr<Entry>> entries_ ABSL_GUARDED_BY(mutex_);
  class Schedule schedule_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::pair<std::string, absl::Duration>, std::unique_ptr<RestGroup>> groups_
      ABSL_GUARDED_BY(mutex_);                     // by namespace and period
  class Schedule rounds_ ABSL_GUARDED_BY(mutex_);  // of groups
  bool ticked_ ABSL_GUARDED_BY(mutex_) = false;    // at least once: the first lists are in
};

}  // namespace flyball::scaler
