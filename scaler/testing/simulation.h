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

// Metric specs of a target `name`, as JSON: the External metrics a and b with an average value for
// each replica, the cpu of its pods in percent of what they request, and their memory.
std::string MetricOf(char which, absl::string_view name, int average);
std::string CpuOf(int percent);
std::string MemoryOf(int average);

// An object as JSON; `spec` and `metadata` are further fields, each with a comma before it.
struct AutoscalerText {
  AutoscalerKey key;
  std::string metrics;  // joined by commas
  std::string spec;
  std::string annotations;  // "\"k\":\"v\""

  std::string Json() const;
};

class Simulation {
 public:
  explicit Simulation(uint32_t seed, ScalerOptions scaler = ActOnAll());
  ~Simulation();  // ends all replicas

  // Everything is acted for, each 2 s.
  static ScalerOptions ActOnAll();

  // The next one, which begins at once.
  SimulatedReplica& AddReplica(int shards = 1);
  SimulatedReplica& replica(size_t index) { return *replicas_[index]; }
  const std::vector<std::unique_ptr<SimulatedReplica>>& replicas() const { return replicas_; }
  void Run(absl::Duration duration);

  // An amount from now on: 'a', 'b', 'c' for cpu, 'm' for memory.
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
