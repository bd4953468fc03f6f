// The pods of a cluster and which autoscalers select them, indexed so that a change of a pod costs
// work only for the autoscalers that select it.
//
// No I/O; not thread-safe (pod_store.h locks), except for SelectedPods::version. Pods of one
// template share their labels and requests, so that a pod costs some 200 bytes. The pods that one
// selector selects are a group (SelectedPods). Labels are matched with selectors only when a set of
// labels or a selector is new; a change of a pod changes the versions of the groups whose selector
// matches its labels.
//
// Rivals are autoscalers that select the same pod. Source: Kubernetes v1.34.4
// pkg/controller/util/selectors; a selector counts from the first decision that used it.
// Autoscalers of different kinds are not rivals, and neither is one that writes nothing.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kube/objects/selector.h"
#include "scaler/math/input.h"
#include "scaler/math/pods.h"
#include "scaler/stores/managed.h"
#include "scaler/stores/shared_pool.h"

namespace flyball::scaler {

struct LabelSet;
struct PodRecord;

// The pods of one namespace that one selector selects, and the autoscalers that use it.
class SelectedPods {
 public:
  // Changes whenever pods or rivals may have changed; never 0, never the same for two groups.
  uint64_t version() const { return version_.load(std::memory_order_acquire); }

 private:
  friend class PodIndex;

  std::atomic<uint64_t> version_ = 0;
  std::string text_;  // the selector as written
  kube::Selector selector_;
  std::vector<LabelSet*> sets_;       // the sets of labels that the selector matches
  std::vector<uint64_t> anchors_;     // hashes of labels of which a pod must have one; empty: none
  std::vector<AutoscalerKey> users_;  // the rivals that use it, retired ones excluded
  int holders_ = 0;                   // how many autoscalers use it, retired ones included
  // What View has found since the last change of the version, by AutoscalerKind. A group may have
  // thousands of users, each of which asks for it after each change.
  mutable std::array<RivalsPtr, 2> rivals_;
};

// The pods of a group as a decision reads them.
struct PodView {
  std::shared_ptr<const PodTable> table;
  RivalsPtr rivals;  // of the kind that was asked for
  uint64_t version = 0;
  absl::Time last_start = absl::InfinitePast();  // of the youngest pod
};

// Pods of one namespace that have the same labels and are neither Succeeded nor Failed. It is a
// copy, so that no lock is held while a selector with a thousand requirements is matched.
struct AlikePods {
  std::string labels;                     // as LabelSet::text
  std::vector<const std::string*> nodes;  // of each pod; nullptr: not assigned yet
};

// How many of the pods match; with `distinct_nodes`, the number of their nodes.
int64_t CountMatching(absl::Span<const AlikePods> pods, const kube::Selector& selector,
                      bool distinct_nodes);

class PodIndex {
 public:
  PodIndex();
  ~PodIndex();
  PodIndex(const PodIndex&) = delete;
  PodIndex& operator=(const PodIndex&) = delete;

  // `list` is the number of the list in or after which the pod was last seen.
  void Put(const Pod& pod, absl::string_view node, uint64_t list);
  void Remove(absl::string_view ns, absl::string_view name);
  // Removes the pods of `ns` ("": of all namespaces) that were last seen before `list`.
  void RemoveBefore(absl::string_view ns, uint64_t list);

  // Sets what an autoscaler selects from now on, in its namespace, and whether it is a rival of
  // others. The group is valid until the autoscaler's next Select or Forget.
  SelectedPods* Select(const AutoscalerKey& who, const kube::Selector& selector,
                       absl::string_view text, bool rival = true);
  // Makes the autoscaler no longer a rival of others; its group stays valid until Forget.
  void Retire(const AutoscalerKey& who);
  void Forget(const AutoscalerKey& who);

  // The group's pods, one row each, sorted by name, with a column of requests for each metric that
  // is relative to requests.
  PodView View(const SelectedPods& group, AutoscalerKind kind, absl::Span<const MetricSpec> metrics,
               const RequestRules& rules) const;

  // The input of CountMatching for the pods of `ns`; pods that do not match may be missing. Each
  // element has at least one pod.
  std::vector<AlikePods> Candidates(absl::string_view ns, const kube::Selector& selector) const;

  // The namespaces that have pods or selectors.
  std::vector<std::string> Namespaces() const;
  void ForEachPod(
      absl::string_view ns,
      absl::FunctionRef<void(absl::string_view name, const kube::Labels& labels, PodPhase phase)>
          on_pod) const;

  size_t size() const { return size_; }

 private:
  struct Namespace;

  Namespace& NamespaceOf(absl::string_view ns);
  void DropIfEmpty(absl::string_view ns);
  LabelSet* LabelSetOf(Namespace& space, const Pod& pod);
  void Attach(PodRecord& pod, LabelSet* set);
  void Detach(Namespace& space, PodRecord& pod);
  void Touch(const LabelSet& set);
  static RivalsPtr RivalsOf(const SelectedPods& group, AutoscalerKind kind);
  void Touch(SelectedPods& group) {
    group.rivals_ = {};
    group.version_.store(++last_version_, std::memory_order_release);
  }

  absl::flat_hash_map<std::string, std::unique_ptr<Namespace>> namespaces_;
  absl::flat_hash_map<AutoscalerKey, SelectedPods*> selected_;
  SharedPool<Pod> shapes_;  // see ShapeOf
  SharedPool<std::string> nodes_;
  uint64_t last_version_ = 0;
  size_t size_ = 0;
  std::string scratch_;
};

}  // namespace flyball::scaler
