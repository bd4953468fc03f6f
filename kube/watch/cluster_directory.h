// The objects of a cluster, from watch caches that start when they are first asked for.
//
// Thread-safe. Threads: one that discovers resources and tidies up, one for each resource in use or
// kept (watch_cache.h; none for pods that another part watches), two that watch for new kinds
// (kind_watch.h). If watching is not allowed, the namespace asked for is listed per request, and a
// list is used for a second. An unreachable API server is retried for ever; until its first answer
// List is kUnavailable, afterwards the last known objects are served.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/expiring_cache.h"
#include "base/repeating_thread.h"
#include "base/single_flight.h"
#include "base/snapshot.h"
#include "http/client/transport.h"
#include "kube/objects/object_directory.h"
#include "kube/objects/object_table.h"
#include "kube/watch/kind_watch.h"
#include "kube/watch/pod_feed.h"
#include "kube/watch/watch_cache.h"

namespace flyball::kube {

struct ClusterDirectoryOptions {
  absl::Duration discovery_interval = absl::ZeroDuration();  // 0 is every 5 minutes
  absl::Duration discovery_timeout = absl::Seconds(30);
  absl::Duration missed_interval = absl::Seconds(5);  // between discoveries after ResourceMissed
  absl::Duration unused_after = absl::Minutes(10);    // after this time a cache is stopped
  absl::Duration list_reuse = absl::Seconds(1);       // for lists if watching is not allowed
  size_t max_lists = 256;                             // such lists kept
  // Repeats discovery when a CustomResourceDefinition or APIService changes, if watching those is
  // allowed.
  bool watch_kinds = true;
  // Such a change takes effect with a delay: for this long after it discovery is repeated.
  absl::Duration settle = absl::Seconds(5);
  WatchCacheOptions cache;  // limits and back-off of each cache
  // The pods as reported by another part of the process that watches all pods of this cluster with
  // the same rights; nullptr: there is none, and pods are watched here.
  std::shared_ptr<PodFeed> pods;
};

class ClusterDirectory : public ObjectDirectory {
 public:
  // Makes one connection pool; called for discovery and for each cache.
  using MakeTransport = std::function<absl::StatusOr<std::unique_ptr<http::HttpTransport>>()>;

  // kInvalidArgument if the first transport cannot be made (bad URL, unreadable file). The clock
  // outlives the directory.
  static absl::StatusOr<std::unique_ptr<ClusterDirectory>> Make(
      MakeTransport make_transport, Clock& clock, ClusterDirectoryOptions options = {});
  ~ClusterDirectory() override;

  // See the interface; also kPermissionDenied if the resource may not even be listed, and
  // kResourceExhausted if it has more objects than the limit.
  absl::StatusOr<std::vector<ObjectPtr>> List(const ObjectQuery& query) override;
  absl::StatusOr<ObjectPtr> Get(const GroupResource& resource, absl::string_view ns,
                                absl::string_view name, bool running_only) override;
  void Keep(std::vector<ObjectSet> sets) override;
  absl::Status Kept() const override;
  std::shared_ptr<const RestMapper> mapper() const override { return mapper_.Get(); }
  void ResourceMissed() override;
  uint64_t Generation() const override { return generation_.load(std::memory_order_acquire); }

  // OK once the resources of the cluster are known; else why not.
  absl::Status Ready() const;

  struct Stats {
    size_t caches = 0;
    uint64_t events = 0;  // of the caches there are now
    uint64_t discoveries = 0;
  };
  Stats stats() const;

 private:
  using TablePtr = std::shared_ptr<const ObjectTable>;
  using Key = std::pair<GroupResource, bool>;  // running only
  struct Cached {
    template <typename Source>  // as WatchCache takes it
    Cached(WatchCacheOptions options, Source source, Clock& clock)
        : cache(std::move(options), std::move(source), clock) {}
    std::atomic<int64_t> last_use_ns = 0;  // MonotonicTime
    WatchCache cache;
  };

  ClusterDirectory(MakeTransport make_transport, std::unique_ptr<http::HttpTransport> server,
                   Clock& clock, ClusterDirectoryOptions options);

  absl::StatusOr<TablePtr> TableFor(const GroupResource& resource, absl::string_view ns,
                                    bool running_only, absl::Duration timeout);
  absl::StatusOr<ResourceInfo> Resolve(const GroupResource& resource, MonotonicTime deadline);
  absl::StatusOr<std::shared_ptr<Cached>> MakeCache(const ResourceInfo& info, bool running_only);
  absl::StatusOr<std::shared_ptr<Cached>> CacheFor(const ResourceInfo& info, bool running_only);
  absl::StatusOr<TablePtr> ListNow(const ResourceInfo& info, absl::string_view ns,
                                   bool running_only, MonotonicTime deadline);
  WatchCacheOptions CacheOptions(const ResourceInfo& info, bool running_only);

  // The thread's function; returns the time until its next call.
  absl::Duration Step();
  void DiscoverOnce();
  void UseKept();
  void Tidy(MonotonicTime now);
  void KindsChanged();
  void Grow() { generation_.fetch_add(1, std::memory_order_acq_rel); }

  const MakeTransport make_transport_;
  const std::unique_ptr<http::HttpTransport> server_;
  Clock& clock_;
  const ClusterDirectoryOptions options_;
  std::atomic<uint64_t> generation_ = 0;
  std::atomic<uint64_t> discoveries_ = 0;
  Snapshot<RestMapper> mapper_;

  // Lists of resources that may not be watched, by resource and namespace.
  ExpiringCache<absl::StatusOr<TablePtr>> lists_;
  SingleFlight<TablePtr> listing_;

  mutable absl::Mutex mutex_;
  absl::Status discovered_ ABSL_GUARDED_BY(mutex_);
  bool asked_ ABSL_GUARDED_BY(mutex_) = false;   // one discovery has ended, successful or not
  bool missed_ ABSL_GUARDED_BY(mutex_) = false;  // ResourceMissed since the last discovery
  MonotonicTime settled_at_ ABSL_GUARDED_BY(mutex_) = -absl::InfiniteDuration();
  std::vector<ObjectSet> kept_ ABSL_GUARDED_BY(mutex_);
  std::map<Key, std::shared_ptr<Cached>> caches_ ABSL_GUARDED_BY(mutex_);

  // The thread's own.
  std::vector<std::string> problems_;
  std::string failure_;
  std::map<GroupResource, std::string> keep_failures_;
  std::unique_ptr<KindWatch> kind_watch_;  // once the first discovery has succeeded
  MonotonicTime next_discovery_ = -absl::InfiniteDuration();
  MonotonicTime last_discovery_ = -absl::InfiniteDuration();
  absl::Duration backoff_;
  RepeatingThread thread_;
};

}  // namespace flyball::kube
