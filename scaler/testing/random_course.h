// A random course of events in a simulation: edits, pauses, deletions and recreations of
// autoscalers and targets, replicas that come, go, die and work with other numbers of shards,
// broken watches, slow, lost and repeated calls, clocks that jump; metrics that keep their last
// count, triggers that leave and enter zero, and schedules that begin and end. For tests.
//
// The same seed gives the same course. A wide course draws from more: everything that a behavior
// can contain, autoscalers that change their target, and an API server that answers 429. It does
// not end with a quiet phase, since its policies may need any time to grow. In a frozen course
// replicas are also stopped for a while and go on as if nothing had happened; every second one is
// wide. In a course with restarts the API servers restart too, and then give each replica a few
// wrong answers. Every second one of these is wide, and every second pair has the newest dialect.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "scaler/testing/simulation.h"

namespace flyball::scaler {

class RandomCourse {
 public:
  static constexpr uint32_t kFirstWide = 1'000'000'000;    // courses from this seed on are wide
  static constexpr uint32_t kFirstFrozen = 2'000'000'000;  // and from this one on frozen
  static constexpr uint32_t kFirstWithRestarts = 3'000'000'000;

  explicit RandomCourse(uint32_t seed);

  // Runs the course: faults first, then a quiet phase. Returns what was wrong and what happened
  // before it; "": nothing was wrong.
  std::string Run();

  const Judge& judge() const { return sim_.judge; }

 private:
  struct Action {
    int weight;
    void (RandomCourse::*act)();
  };
  std::vector<Action> Actions() const;

  void Note(std::string what);
  const AutoscalerKey& AnyKey();
  SimulatedCluster::Target AnyTarget();
  SimulatedReplica* AnyReplica();  // one that is alive; nullptr: there is none
  std::string AnyMetrics(const AutoscalerKey& key);
  std::string AnyBehavior();
  std::string AnyRules();
  std::string AnySchedule();
  AutoscalerText AnySpec(const AutoscalerKey& key);
  size_t Living() const;

  void SetAmount();
  void FailAmount();
  void Put(const AutoscalerText& text);
  void EditSpec();
  void Pause();
  void DeleteAutoscaler();
  void RecreateAutoscaler();
  void RecreateTarget();
  void ScaleByHand();
  void DisturbPod();
  void SetJobs();
  void AddReplica();
  void StopReplica();
  void KillReplica();
  void FreezeReplica();
  void ChangeShards();
  void BreakWatch();
  void CloseWatch();
  void HealWatches();
  void TroubleNetwork();
  void CalmNetwork();
  void RestartServer();
  void JumpClock();

  void MakePeace();
  std::string CheckPeace();

  int troubles_ = 0;  // number of network faults so far
  const bool restarts_;
  const bool frozen_;
  Simulation sim_;
  Chance aside_;
  const bool wide_;
  const bool ends_in_peace_;  // with a check, which takes as long as everything before
  std::vector<AutoscalerKey> keys_;
  std::map<AutoscalerKey, std::string> targets_;  // AutoscalerText::target as it is now
  int shards_ = 1;
  std::set<int> had_wrong_answers_;  // replicas, by index
  std::vector<std::string> notes_;
};

}  // namespace flyball::scaler
