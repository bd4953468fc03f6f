// Judges what replicas write in a simulation by what a controller would have done that saw
// everything: every recommendation and every change of any replica, and what is true now. For
// tests.
//
// A write is wrong when it
//   * makes a target smaller than that controller's own math allows on any reading that was true a
//     short while before;
//   * is for an autoscaler that is gone, paused or not acted for;
//   * comes while another replica may write for the same autoscaler.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "scaler/testing/simulated_cluster.h"
#include "scaler/testing/simulated_replica.h"
#include "scaler/views/decision_record.h"

namespace flyball::scaler {

class Judge {
 public:
  // `replicas` may grow.
  Judge(const SimulatedTime& time, SimulatedCluster& cluster,
        const std::vector<std::unique_ptr<SimulatedReplica>>& replicas, MathConfig math,
        ModeFlags mode)
      : time_(time), cluster_(cluster), replicas_(replicas), math_(math), mode_(mode) {}

  // Whether wall clocks have ever differed: then nobody knows how old an addition is that another
  // owner wrote down, and for how long it allows removals.
  bool clocks_differ = false;
  // How long a reading may be on its way into a write.
  absl::Duration reading_age = absl::Seconds(1);

  void OnDecision(int replica, const DecisionRecord& record);
  void OnRest(const AutoscalerKey& key, int32_t recommendation, const Rest* rest);
  void OnRound(const Rest* rest);
  void OnScaleWrite(const SimulatedCluster::ScaleWrite& write);
  // Somebody else is about to scale the target. An owner that dies before it has written down its
  // last removal leaves no trace of it then but the count, which has changed once more.
  void OnForeignScale(const SimulatedCluster::Target& target);
  // Looks whether there are two writers now.
  void Look();

  // The count that a controller without a past would write now; nullopt: there is none to decide,
  // or it can't tell.
  std::optional<int32_t> Wanted(const AutoscalerKey& key);

  const std::vector<std::string>& wrong() const { return wrong_; }
  // The last decisions about one autoscaler, a line each.
  std::string LastDecisions(const AutoscalerKey& key) const;
  int writes() const { return writes_; }
  int shrinks() const { return shrinks_; }

 private:
  struct Resting {
    AutoscalerKey key;
    int32_t recommendation = 0;
    const Rest* rest = nullptr;
  };

  struct Decided {
    absl::Duration time;
    int replica = 0;
    int32_t current = 0, recommendation = 0, desired = 0;
    bool written = false;
    std::string error;
  };

  void Note(const Managed& managed, int32_t recommendation, absl::Duration when);
  absl::Time Wall() const { return kSimulationStart + time_.now(); }
  int32_t Decide(const Managed& managed, const SimulatedCluster::Target& target, int32_t current,
                 const std::vector<SimulatedPod>& pods, absl::Duration since,
                 const ScalerState& state);
  int32_t Least(const Managed& managed, const SimulatedCluster::Target& target, int32_t current,
                absl::Duration since);
  ScalerState WithoutHidden(const SimulatedCluster::Target& target, ScalerState state) const;
  void Record(const std::vector<ManagedPtr>& valid, const SimulatedCluster::ScaleWrite& write);
  std::string ToString(const ScalerState& state) const;
  std::string Remembered(const Managed& managed);
  void Complain(const std::string& what);

  const SimulatedTime& time_;
  SimulatedCluster& cluster_;
  const std::vector<std::unique_ptr<SimulatedReplica>>& replicas_;
  const MathConfig math_;
  const ModeFlags mode_;
  // Of one that was recreated the original may remember its predecessor: both are right.
  std::map<std::string, ScalerState> by_uid_;
  std::map<AutoscalerKey, ScalerState> by_key_;
  std::map<SimulatedCluster::Target, absl::Time> foreign_;  // when it was changed last
  std::vector<Resting> resting_;
  std::vector<std::string> wrong_;
  std::map<AutoscalerKey, std::deque<Decided>> decided_;
  int writes_ = 0;
  int shrinks_ = 0;
};

}  // namespace flyball::scaler
