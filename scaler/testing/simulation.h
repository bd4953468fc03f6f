// Several replicas on one simulated cluster, and a judge of what they write. For tests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "scaler/testing/judge.h"
#include "scaler/testing/simulated_cluster.h"
#include "scaler/testing/simulated_replica.h"
#include "scaler/testing/simulated_time.h"

namespace flyball::scaler {

// The target and the autoscalers that most sequences of events are about.
inline const SimulatedCluster::Target kWeb = {"shop", "web"};
inline const AutoscalerKey kHpa = {.kind = AutoscalerKind::kHpa, .ns = "shop", .name = "web"};
inline const AutoscalerKey kOwn = {.kind = AutoscalerKind::kOwn, .ns = "shop", .name = "web"};

// Metric specs of a target `name`, as JSON: the External metrics a and b with an average value for
// each replica, the cpu of its pods in percent of what they request, and their memory.
std::string MetricOf(char which, absl::string_view name, int average);
std::string CpuOf(int percent);
std::string MemoryOf(int average);
// Fields of a spec that is decided each `interval`: it asks for half as many replicas as there are
// pods of app=job, and for none after `cooldown` seconds without such pods.
std::string FollowingJobs(absl::string_view interval, int cooldown);

// An autoscaler that can be written as JSON.
struct AutoscalerText {
  AutoscalerKey key;
  std::string metrics;      // joined by commas
  std::string spec;         // further fields of the spec, each with a comma before it
  std::string annotations;  // "\"k\":\"v\""
  std::string target = {};  // the name of its Deployment; "": that of the key

  std::string Json() const;
};

class Simulation {
 public:
  explicit Simulation(uint32_t seed, ScalerOptions scaler = ActOnAll());
  ~Simulation();  // ends all replicas

  // Options for a decision of every autoscaler each 2 s, in mode act.
  static ScalerOptions ActOnAll();

  // Adds a replica, which begins at once.
  SimulatedReplica& AddReplica(int shards = 1);
  SimulatedReplica& replica(size_t index) { return *replicas_[index]; }
  const std::vector<std::unique_ptr<SimulatedReplica>>& replicas() const { return replicas_; }
  void Run(absl::Duration duration);

  // Sets an amount of a target from now on: `which` is 'a', 'b', 'c' for cpu or 'm' for memory.
  void Set(const SimulatedCluster::Target& target, char which, SimulatedCluster::Amount milli);

  SimulatedTime time;
  Chance chance;
  SimulatedCluster cluster{time};
  SimulatedLeases leases;

 private:
  const ScalerOptions scaler_;
  adapter::FakeDirectory directory_;
  std::vector<std::unique_ptr<SimulatedReplica>> replicas_;

 public:
  Judge judge;
};

}  // namespace flyball::scaler
