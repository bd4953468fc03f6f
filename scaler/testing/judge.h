// Judges what replicas write in a simulation, by comparison with an imagined controller that knows
// every recommendation and every change of every replica, and the true state of the cluster. For
// tests.
//
// A write is wrong when it
//   * makes a target smaller than that controller's math allows on every reading that was true a
//     short while before;
//   * makes it zero before the cooldown after the last activity of a trigger that any replica saw,
//     or while a metric is unknown;
//   * is for an autoscaler that is gone, paused or not in mode act;
//   * comes while another replica may write for the same autoscaler.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "scaler/math/input.h"
#include "scaler/math/pods.h"
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

  // Whether the replicas' wall clocks have ever differed. If so, a replica cannot know how old an
  // addition is that another owner recorded, nor for how long it allows removals.
  bool clocks_differ = false;
  // The longest time from a reading to the write that is based on it.
  absl::Duration reading_age = absl::Seconds(1);

  void OnDecision(int replica, const DecisionRecord& record);
  void OnSteady(int replica, const AutoscalerKey& key, int32_t recommendation);
  void OnRound(int replica, const RoundRecord& round);
  void OnScaleWrite(const SimulatedCluster::ScaleWrite& write);
  // To be called before somebody else scales the target, and when an autoscaler is given another
  // target. If the owner dies or loses its Lease, the count is the only trace of its decisions
  // since it last saved its state and of its last removal; this call says that the count is about
  // to lose that trace too.
  void OnForeignScale(const SimulatedCluster::Target& target);
  // Checks that no two replicas may write for the same autoscaler now.
  void Look();

  // The count that a controller without a past would write now; nullopt: the autoscaler does not
  // exist, or its readings are unknown.
  std::optional<int32_t> Wanted(const AutoscalerKey& key);

  const std::vector<std::string>& wrong() const { return wrong_; }
  // The last decisions about one autoscaler, one line each.
  std::string LastDecisions(const AutoscalerKey& key) const;
  int writes() const { return writes_; }
  int shrinks() const { return shrinks_; }

 private:
  struct Decided {
    absl::Duration time;
    int replica = 0;
    int32_t current = 0, recommendation = 0, desired = 0;
    bool written = false;
    std::string error;
  };

  bool AnotherMayWrite(int replica, const AutoscalerKey& key) const;
  std::array<ScalerState*, 3> MemoriesOf(const Managed& managed);
  void Note(int replica, const Managed& managed, int32_t recommendation, absl::Duration when);
  absl::Time Wall() const { return kSimulationStart + time_.now(); }
  // What a decision is made on, but for the count and what is remembered.
  struct Seen {
    Autoscaler autoscaler;
    PodTable pods;
    ScaleAnswer scale;
    std::vector<Reading> readings;
  };
  Seen See(const Managed& managed, const SimulatedCluster::Target& target,
           const std::vector<SimulatedPod>& pods, absl::Duration since);
  int32_t Decide(const Seen& seen, int32_t current, const ScalerState& state) const;
  int32_t Least(const Managed& managed, const SimulatedCluster::Target& target, int32_t current,
                absl::Duration since);
  // Whether the replica that made the last removal knows that it did, and is still the owner.
  bool KnowsItsLastRemoval(const AutoscalerKey& key) const;
  ScalerState WithoutHidden(const AutoscalerKey& key, absl::Time foreign, ScalerState state) const;
  // Why a target must not be zero now; "": it may.
  std::string WhyNotZero(const Managed& managed, const SimulatedCluster::Target& target,
                         absl::Duration since);
  void Record(const std::vector<ManagedPtr>& valid, const SimulatedCluster::ScaleWrite& write);
  std::string ToString(const ScalerState& state) const;
  std::string Remembered(const Managed& managed);
  void Complain(const std::string& what);

  const SimulatedTime& time_;
  SimulatedCluster& cluster_;
  const std::vector<std::unique_ptr<SimulatedReplica>>& replicas_;
  const MathConfig math_;
  const ModeFlags mode_;
  // A controller may remember all predecessors of an autoscaler that was recreated, or none, or
  // those since it was last gone for a while: each is correct, so each memory is kept.
  std::map<std::string, ScalerState> by_uid_;
  std::map<AutoscalerKey, ScalerState> by_key_;
  std::map<std::pair<AutoscalerKey, int>, ScalerState> by_return_;
  // Their first count need not be remembered: it was decided before anybody acted.
  std::set<const ScalerState*> began_paused_;
  std::map<std::string, absl::Duration> last_active_;          // of a trigger, by uid
  std::map<SimulatedCluster::Target, absl::Time> foreign_;     // when others last scaled it
  std::map<std::pair<int, AutoscalerKey>, int32_t> steady_;    // what each replica recommends
  std::map<std::pair<int, AutoscalerKey>, ManagedPtr> known_;  // the object it decided on last
  struct Removal {
    int replica = 0;
    bool confirmed = false;  // its writer got an answer
  };
  std::map<AutoscalerKey, Removal> last_removal_;
  struct Noted {
    int replica = 0;
    absl::Duration when;
    absl::Duration over;  // when its cycle ended: only then is it remembered
  };
  std::map<AutoscalerKey, std::vector<Noted>> noted_;  // which replicas recommended something
  std::vector<std::string> wrong_;
  std::map<AutoscalerKey, std::deque<Decided>> decided_;
  int writes_ = 0;
  int shrinks_ = 0;
};

}  // namespace flyball::scaler
