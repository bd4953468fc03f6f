// The loop: it knows which autoscalers exist and when each is due, and takes each through the steps
// of its cycle.
//
// Thread-safe. It has no threads of its own: Tick is called by one thread, and the steps run in the
// pools that it is given. A cycle finds the scale (read_step), asks what the decision depends on
// (question_board), decides (decide_step), writes the scale (act_step) and reports (report_step).
// An autoscaler has one cycle at a time: one that is due while its cycle is under way waits for its
// next slot. Steady autoscalers that are due together share one round instead of having a cycle
// each (steady_step).
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
#include "base/lanes.h"
#include "scaler/steady/steady_group.h"
#include "scaler/steady/steady_step.h"
#include "scaler/steps/act_step.h"
#include "scaler/steps/decide_step.h"
#include "scaler/steps/mode.h"
#include "scaler/steps/read_step.h"
#include "scaler/steps/report_step.h"
#include "scaler/steps/schedule.h"
#include "scaler/steps/tracked_autoscaler.h"
#include "scaler/stores/autoscaler_store.h"

namespace flyball::scaler {

class Loop : public AutoscalerSink {
 public:
  struct Deps {
    Clock& clock;
    Ownership& ownership;
    PodStore& pods;
    const AutoscalerStore& autoscalers;
    const ReadStep& read;
    const DecideStep& decide;
    ActStep& act;
    const ReportStep& report;
    const SteadyStep& steady;
    const LiveConfig& configs;
    PlanContext plan;
    QuestionBoard::Run run_decisions;
    Lanes& write_lanes;
    // Makes the context that Question::Ask gets. Called at most once for each Tick.
    std::function<AskContext()> ask_context;
    // Called when Tick has to be called earlier than its last return value said.
    std::function<void()> wake_up;
    std::vector<DecisionObserver*> observers;
  };
  struct Options {
    ModeFlags mode;
    absl::Duration sync_period = absl::Seconds(15);
  };

  Loop(Deps deps, const Options& options);
  ~Loop() override;

  // Called by the watches.
  void OnAutoscaler(ManagedPtr managed) override;
  void OnGone(const AutoscalerKey& key) override;

  // Begins the cycles and rounds that are due. Returns the latest time of the next call.
  MonotonicTime Tick(MonotonicTime now);
  // Called by the question board with the cycles and rounds whose questions are all answered.
  void OnReady(absl::Span<AnswerWaiter* const> waiters);
  // Requests a decision of that autoscaler as soon as possible.
  void Wake(const AutoscalerKey& key);
  // To be called after shards were won or lost.
  void OwnershipChanged();

  struct Stats {
    size_t autoscalers = 0, owned = 0, steady = 0;
    size_t busy = 0;  // being decided, or due
    uint64_t decisions = 0, unchanged = 0;
  };
  Stats stats() const;

 private:
  // Begins cycles of the autoscalers and rounds of the kept groups.
  void BeginAll(std::vector<TrackedAutoscaler*> autoscalers, std::vector<SteadyGroup*> groups,
                MonotonicTime now);
  void BeginRounds(absl::Span<SteadyGroup* const> groups, QuestionBoard::ToAsk& to_ask);
  bool Prepare(TrackedAutoscaler& tracked, MonotonicTime now);
  ReadStep::Found FindScale(TrackedAutoscaler& tracked) const;
  void FollowConfig(CycleInputs& inputs) const;
  bool Continue(TrackedAutoscaler& tracked, QuestionBoard::ToAsk& to_ask);
  void DecideAll(std::vector<TrackedAutoscaler*> autoscalers);
  void DecideNow(TrackedAutoscaler& tracked);
  void WriteScale(TrackedAutoscaler& tracked);
  // Whether no shard was won or lost since the cycle began. Otherwise another replica may have
  // decided the autoscaler in between. The autoscaler's term is checked too, since it changes
  // before OwnershipChanged is called, which happens only after all shards were looked at.
  bool IsOfThisTerm(const TrackedAutoscaler& tracked) const {
    return tracked.decided.ownership_epoch == ownership_epoch_.load() &&
           tracked.decided.term == deps_.ownership.Term(tracked.key);
  }
  // Whether the autoscaler is still the one that the present decision was made for: same spec, same
  // mode, same term.
  bool IsCurrent(const TrackedAutoscaler& tracked) const;
  // Ends the cycle or round. `decide_anew`: another cycle begins at once.
  void Finish(TrackedAutoscaler& tracked, bool decide_anew = false);
  void FinishAll(absl::Span<TrackedAutoscaler* const> autoscalers, bool decide_anew = false);
  // What a Tick begins.
  struct Begun {
    std::vector<SteadyGroup*> groups;
    std::vector<TrackedAutoscaler*> due;
    std::vector<TrackedAutoscaler*> gone;
  };
  void TakeDue(TrackedAutoscaler& tracked, MonotonicTime now, Begun& begun)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TakeDue(SteadyGroup& group, MonotonicTime now, Begun& begun)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void BeginCycle(TrackedAutoscaler& tracked, MonotonicTime now, Begun& begun)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DissolveOld(Begun& begun, MonotonicTime now);
  static bool IsBusy(const DueState& due) {
    return due.busy || (due.group != nullptr && due.group->due.busy);
  }
  bool MayBeKept(const SteadyGroup& group) const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  void Keep(SteadyGroup& group) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes the autoscaler out of the group, so that it is due by itself again. If the group has a
  // round under way, the autoscaler is marked busy.
  void TakeOut(SteadyGroup& group, TrackedAutoscaler& tracked)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ends the group. Returns its members.
  std::vector<TrackedAutoscaler*> Dissolve(SteadyGroup& group)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // To be called when a watch or a wake-up concerns one autoscaler. If it is in a kept group, the
  // group ends now, or after the round that is under way.
  void BreakGroup(const TrackedAutoscaler& tracked) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  DecideStep::Times Now() const;
  void EndRound(SteadyGroup& group);
  void Disown(TrackedAutoscaler& tracked);
  void Erase(TrackedAutoscaler& tracked);
  absl::Duration PeriodOf(const Managed& managed) const;
  absl::Duration RetryAfter(const TrackedAutoscaler& tracked) const;
  const ManagedPtr& FollowSchedules(DueState& due) const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  absl::Duration SlotsOf(const Managed& managed, bool told_of_news) const;
  // Returns whether its slots have changed.
  bool FollowNews(TrackedAutoscaler& tracked) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Schedule(TrackedAutoscaler& tracked, MonotonicTime now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WakeTracked(TrackedAutoscaler& tracked) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DecideSoon(TrackedAutoscaler& tracked) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WakeByMinute() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsNews(const Managed* before, const Managed& managed) const
      ABSL_SHARED_LOCKS_REQUIRED(mutex_);

  const Deps deps_;
  const Options options_;
  std::atomic<uint64_t> ownership_epoch_ = 0;
  std::atomic<uint64_t> decisions_ = 0;
  std::atomic<uint64_t> unchanged_ = 0;
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<AutoscalerKey, std::unique_ptr<TrackedAutoscaler>> tracked_
      ABSL_GUARDED_BY(mutex_);
  class Schedule schedule_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<SteadyGroup*, std::unique_ptr<SteadyGroup>> groups_
      ABSL_GUARDED_BY(mutex_);                   // groups that are kept or have a round under way
  bool ticked_ ABSL_GUARDED_BY(mutex_) = false;  // Tick was called: the first lists have arrived
  absl::Time minute_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();  // of the last Tick
};

}  // namespace flyball::scaler
