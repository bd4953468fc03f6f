// The scales of Deployments, ReplicaSets, StatefulSets and ReplicationControllers, taken from
// watches of the objects themselves. The watch of a kind starts when the kind is first asked for;
// if only some namespaces are watched, this holds for each of them separately.
//
// Thread-safe. An ObjectScale stands for one object. While that object does not exist, its scale is
// nullptr. An ObjectScale that nobody holds is removed when the table has doubled since the last
// sweep.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/snapshot.h"
#include "kube/client/scale.h"
#include "kube/objects/rest_mapping.h"
#include "kube/watch/object_watch.h"
#include "scaler/stores/watch_health.h"

namespace flyball::scaler {

class ScaleStore {
 public:
  class Kind;  // one kind of targets, in one namespace or in all: what one watch reports
  // One object's scale. `version` changes whenever the scale does.
  struct ObjectScale {
    Snapshot<kube::Scale> scale;
    std::atomic<uint64_t> version = 0;
    std::string removed_uid;  // uid of the last object that was removed; used by the store alone
  };
  struct Place {
    std::shared_ptr<const ObjectScale> object;
    const Kind* kind = nullptr;  // lives as long as the store
  };
  // Begins a watch of that resource in that namespace ("": all) that feeds the handler.
  using StartWatch =
      std::function<void(const kube::ResourceInfo&, const std::string& ns, kube::WatchHandler&)>;

  // The clock outlives the store, and the store outlives the watches. `namespaces` empty: all.
  ScaleStore(Clock& clock, const std::vector<std::string>& namespaces, StartWatch start);
  ~ScaleStore();

  // Whether objects of that kind contain their scale, so that a watch of them is enough.
  static bool Reads(const kube::ResourceInfo& target);

  // The place of an object of a kind for which Reads is true. The first call for a kind, or for a
  // kind in a namespace, starts its watch.
  Place Find(const kube::ResourceInfo& target, absl::string_view ns, absl::string_view name);

  enum class Usable { kNotListed, kYes, kBroken };
  // Whether the stored scales of a kind may be used.
  static Usable IsUsable(const Kind& kind);
  // Why the watch of a kind fails; "": it does not.
  static std::string Failure(const Kind& kind);
  absl::Status Ready() const;

  // Stores a scale from an answer of the API server, if it is newer than the stored one.
  void Learn(const kube::ResourceInfo& target, const kube::Scale& scale);
  // Does the same for an answer that came after a write on condition of `before` met a conflict. If
  // the answer is older than `before`, the cluster was set back to an earlier state, as a restore
  // of etcd does; since no watch reports that, the answer replaces `before`.
  void LearnAfterConflict(const kube::ResourceInfo& target, const kube::Scale& before,
                          const kube::Scale& scale);

 private:
  using KindKey = std::pair<kube::GroupResource, std::string>;  // and the namespace; "": all

  KindKey KeyOf(const kube::ResourceInfo& target, absl::string_view ns) const {
    return {target.name, std::string(all_namespaces_ ? "" : ns)};
  }

  Clock& clock_;
  const bool all_namespaces_;
  const StartWatch start_;
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<KindKey, std::unique_ptr<Kind>> kinds_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace flyball::scaler
