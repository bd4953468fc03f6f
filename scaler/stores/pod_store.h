// The pods of a cluster, fed by watches, read by decisions.
//
// Thread-safe: one lock around a PodIndex, held while one pod is changed, one autoscaler's table is
// made, or the pods to be counted are copied. Checking whether anything changed for an autoscaler
// is one atomic load.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "kube/watch/object_watch.h"
#include "kube/watch/pod_feed.h"
#include "scaler/inputs/pod_json.h"
#include "scaler/stores/pod_index.h"
#include "scaler/stores/watch_health.h"

namespace flyball::scaler {

class PodStore {
 public:
  // The clock outlives the store. `followers`, which may be nullptr, get all events of the feed of
  // all namespaces.
  PodStore(Clock& clock, std::shared_ptr<kube::PodFeed> followers);
  ~PodStore();

  // A handler for a watch of the pods of `ns` ("": all). Made before the first watch begins; lives
  // as long as the store.
  kube::WatchHandler& AddFeed(const std::string& ns);

  // The next four do what those of PodIndex do.
  SelectedPods* Select(const AutoscalerKey& who, const kube::Selector& selector,
                       absl::string_view text, bool rival = true);
  void Retire(const AutoscalerKey& who);
  void Forget(const AutoscalerKey& who);
  PodView View(const SelectedPods& group, AutoscalerKind kind, absl::Span<const MetricSpec> metrics,
               const RequestRules& rules) const;
  // How many pods of `ns` match and are neither Succeeded nor Failed; with `distinct_nodes`, the
  // number of their nodes. kUnavailable: the pods are not known.
  absl::StatusOr<int64_t> Count(absl::string_view ns, const kube::Selector& selector,
                                bool distinct_nodes) const;

  // "" while the watch that covers this namespace works; else what is wrong with it.
  std::string Failure(absl::string_view ns) const;
  // "" while the stored pods of this namespace may be used; else why not (watch_health.h).
  std::string Unusable(absl::string_view ns) const;
  // OK once the first list of this namespace, or of all, has arrived.
  absl::Status Ready(absl::string_view ns) const;
  absl::Status Ready() const;
  // Whether some first list has neither arrived nor failed.
  bool Waits() const;
  // The namespaces of the feeds.
  std::vector<std::string> Namespaces() const;
  size_t size() const;

 private:
  class Feed;

  std::vector<kube::WatchedPod> Known() const;

  Clock& clock_;
  const std::shared_ptr<kube::PodFeed> followers_;
  std::vector<std::unique_ptr<Feed>> feeds_;
  mutable absl::Mutex mutex_;
  PodIndex index_ ABSL_GUARDED_BY(mutex_);
  uint64_t last_list_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace flyball::scaler
