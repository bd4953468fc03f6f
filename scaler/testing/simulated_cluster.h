// The true state of a cluster in simulated time: objects, pods, and what metrics say. For tests.
//
// Deployments have their pods as soon as they are scaled. Each target `name` of a namespace has
// four amounts: two External metrics, `a-<name>` and `b-<name>`, and the cpu and memory that each
// of its pods uses. Earlier values stay known, so that a judge can tell what a replica may have
// seen.
//
// Not thread-safe: one task uses it at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "http/client/transport.h"
#include "kube/local/local_object_store.h"
#include "scaler/stores/managed.h"
#include "scaler/testing/simulated_time.h"

namespace flyball::scaler {

// The wall time at simulated time zero.
inline constexpr absl::Time kSimulationStart = absl::FromUnixSeconds(1767225600);

// The history of a value, newest last.
template <typename T>
class Past {
 public:
  void Set(absl::Duration now, T value) { values_.emplace_back(now, std::move(value)); }
  bool empty() const { return values_.empty(); }
  const T& latest() const { return values_.back().second; }
  absl::Duration changed() const { return values_.back().first; }
  // All values that it had at some time from `since` on.
  std::vector<const T*> Since(absl::Duration since) const {
    std::vector<const T*> out;
    for (size_t i = 0; i < values_.size(); ++i) {
      const bool over = i + 1 < values_.size() && values_[i + 1].first < since;
      if (!over) out.push_back(&values_[i].second);
    }
    return out;
  }

 private:
  std::vector<std::pair<absl::Duration, T>> values_;
};

struct SimulatedPod {
  std::string name;
  bool ready = true;  // else it is pending
};

class SimulatedCluster {
 public:
  using Amount = std::optional<int64_t>;               // thousandths; nullopt: it can't be read
  using Target = std::pair<std::string, std::string>;  // namespace and name

  struct Amounts {
    Past<Amount> a, b, cpu, memory;
  };

  explicit SimulatedCluster(SimulatedTime& time);

  // ---- changes by people and other controllers

  void PutDeployment(const Target& target, int replicas);
  void DeleteDeployment(const Target& target);
  void Scale(const Target& target, int replicas);
  // One pod is replaced by one that is not ready.
  void DisturbPod(const Target& target);
  // An HPA or an Autoscaler (CRD), as JSON with its name.
  void PutAutoscaler(absl::string_view json);
  void DeleteAutoscaler(const AutoscalerKey& key);
  // Removes the stored object and creates it again, with another uid.
  void RecreateAutoscaler(const AutoscalerKey& key);

  Past<Amount>& AmountOf(const Target& target, absl::string_view metric);

  // ---- the API server

  // Answers a call without delay. `writer` is passed to `on_scale_write`.
  http::HttpAnswer Serve(const http::HttpCall& call, int writer);
  const kube::LocalObjectStore& store() const { return store_; }
  kube::LocalTarget Collection(absl::string_view path) const { return store_.Find(path); }

  struct ScaleWrite {
    int writer = 0;
    Target target;
    int before = 0, after = 0;
  };
  // Called when a replica has written a scale, before the pods follow it.
  std::function<void(const ScaleWrite&)> on_scale_write;
  // Called after each change of an object.
  std::function<void()> on_change;

  // ---- the true state

  int Replicas(const Target& target) const;  // spec.replicas; -1: there is no such deployment
  // All versions of the autoscaler since `since`; nullptr stands for times at which it did not
  // exist.
  std::vector<ManagedPtr> Autoscaler(const AutoscalerKey& key, absl::Duration since) const;
  const std::map<AutoscalerKey, Past<ManagedPtr>>& autoscalers() const { return autoscalers_; }
  // How often it was created again after it had been gone for a while.
  int Returns(const AutoscalerKey& key) const;
  std::vector<const std::vector<SimulatedPod>*> Pods(const Target& target,
                                                     absl::Duration since) const;
  const std::map<Target, Past<std::vector<SimulatedPod>>>& AllPods() const { return pods_; }
  static std::string PodJson(const Target& target, const SimulatedPod& pod);
  const Amounts& amounts(const Target& target) { return amounts_[target]; }

 private:
  kube::LocalTarget DeploymentAt(const Target& target) const;
  void MakePods(const Target& target, int wanted);
  void FollowScale(const Target& target);
  void Changed();
  void NoteAutoscalers();

  SimulatedTime& time_;
  kube::LocalObjectStore store_;
  size_t seen_ = 0;  // how many changes have been handled
  uint64_t next_pod_ = 0;
  std::map<Target, Amounts> amounts_;
  std::map<Target, Past<std::vector<SimulatedPod>>> pods_;
  std::map<AutoscalerKey, Past<ManagedPtr>> autoscalers_;
  std::map<AutoscalerKey, int> returns_;
};

// A second target for the same autoscaler; called with the second one, it returns the first.
SimulatedCluster::Target OtherOf(const SimulatedCluster::Target& target);
SimulatedCluster::Target FirstOf(const SimulatedCluster::Target& target);
// The pods that the trigger of that target's autoscaler counts: two for each replica.
SimulatedCluster::Target JobsOf(const SimulatedCluster::Target& target);
// "/apis/flyball.dev/v1alpha1/namespaces/n1/autoscalers/web"
std::string PathOf(const AutoscalerKey& key);

}  // namespace flyball::scaler
