// Discovers targets in a cluster: one of the kubernetes_sd_configs of one job.
//
// Watches the objects of its role and those that these refer to, with one thread for each resource
// and namespace (object_watch.h). Of pods that ask to be scraped only what their targets need is
// kept, since their owners decide how much the rest takes. While the API server is unreachable the
// last targets stay, also those that the previous configuration had found. The shared feed of pods
// (pod_feed.h) is not used, since it has only names and labels, and targets are made from a pod's
// spec and status.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "adapter/live/discovery/kubernetes_facts.h"
#include "adapter/live/scrape/target_board.h"
#include "base/clock.h"
#include "http/client/transport.h"
#include "kube/watch/object_watch.h"

namespace flyball::discovery {

class KubernetesDiscovery {
 public:
  using MakeTransport = std::function<absl::StatusOr<std::unique_ptr<http::HttpTransport>>()>;

  // `job` is an index of the board's jobs, `index` one of the job's kubernetes_discoveries;
  // `own_namespace` is that of this program. Clock and board outlive what is made. Errors are those
  // of `make_transport`, and kResourceExhausted where no thread can be made.
  static absl::StatusOr<std::unique_ptr<KubernetesDiscovery>> Make(
      Clock& clock, const MakeTransport& make_transport, scrape::TargetBoard& board, size_t job,
      size_t index, const std::string& own_namespace);
  ~KubernetesDiscovery();

 private:
  enum class Kind { kPods, kNodes, kServices, kEndpoints };
  class Follower;

  KubernetesDiscovery(scrape::TargetBoard& board, size_t job, size_t index);

  Kind KindOfRole() const;
  std::vector<Kind> Kinds() const;
  absl::Status Watch(Kind kind, const std::string& ns, Clock& clock,
                     const MakeTransport& make_transport);

  // Called by the followers, each from its thread. Returns the object's name; nullopt: unreadable.
  std::optional<ObjectName> Put(Kind kind, absl::string_view json);
  void Drop(Kind kind, const ObjectName& name);
  // Removes the objects of the namespace ("": all) that were not listed.
  void Retain(Kind kind, const std::string& ns, const std::set<ObjectName>& listed);
  void Emit();
  // Passes the targets of these objects on.
  void Tell(const std::vector<ObjectName>& names) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // A watch has listed for the first time.
  void NoteListed();

  template <typename Facts>
  std::optional<ObjectName> Keep(Kind kind, absl::StatusOr<Facts> facts,
                                 std::map<ObjectName, Facts>& kept)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Records the objects that this one refers to, if it is of the role's kind, or no longer does.
  template <typename Facts>
  void SetReferences(Kind kind, const Facts& facts, bool refers)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Records the objects whose targets change with that object.
  void Touch(Kind kind, const ObjectName& name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Calls `f` with the objects of that kind, by their names.
  template <typename F>
  auto With(Kind kind, F f) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  scrape::TargetGroup GroupOf(const ObjectName& name) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  scrape::TargetBoard& board_;
  const size_t job_;
  const scrape::KubernetesDiscovery config_;
  const std::string name_;

  absl::Mutex mutex_;
  std::map<ObjectName, PodFacts> pods_ ABSL_GUARDED_BY(mutex_);
  std::map<ObjectName, NodeFacts> nodes_ ABSL_GUARDED_BY(mutex_);
  std::map<ObjectName, ServiceFacts> services_ ABSL_GUARDED_BY(mutex_);
  std::map<ObjectName, EndpointsFacts> endpoints_ ABSL_GUARDED_BY(mutex_);
  // Pods and nodes, each paired with an object whose targets are also made from it.
  std::set<std::pair<ObjectName, ObjectName>> references_ ABSL_GUARDED_BY(mutex_);
  size_t unlisted_ ABSL_GUARDED_BY(mutex_) = 0;           // watches that have not listed yet
  std::set<ObjectName> touched_ ABSL_GUARDED_BY(mutex_);  // of the role's kind
  // Of these some targets are left out, for want of memory.
  std::set<ObjectName> without_room_ ABSL_GUARDED_BY(mutex_);

  std::vector<std::unique_ptr<Follower>> followers_;
  std::vector<std::unique_ptr<kube::ObjectWatch>> watches_;  // last: they call the followers
};

}  // namespace flyball::discovery
