// All objects of one resource, kept current by list and watch (object_watch.h), or by another
// part's watch (pod_feed.h).
// Thread-safe. Holds names, namespaces and labels only. The last good table stays while the API
// server is unreachable. Not here: which caches exist (cluster_directory.h).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "http/client/transport.h"
#include "kube/objects/object_json.h"
#include "kube/objects/object_table.h"
#include "kube/objects/rest_mapping.h"
#include "kube/watch/object_watch.h"
#include "kube/watch/pod_feed.h"

namespace flyball::kube {

struct WatchCacheOptions {
  ObjectWatchOptions watch;         // resource, page size, times; the cache sets what is read
  bool running_only = false;        // only objects with status.phase=Running
  size_t max_objects = 500'000;     // more are kResourceExhausted
  std::function<void()> on_change;  // after the table was replaced; from the cache's thread
};

// Lists all pages of one namespace, "" being all. The limits and errors are those of WatchCache.
absl::StatusOr<std::vector<ObjectPtr>> ListObjects(http::HttpTransport& server,
                                                   const WatchCacheOptions& options,
                                                   absl::string_view ns);

class WatchCache : private WatchHandler, private PodFollower {
 public:
  // The cache owns the transport and shuts it down at the end. The clock outlives the cache.
  WatchCache(WatchCacheOptions options, std::unique_ptr<http::HttpTransport> server, Clock& clock);
  // For pods: follows the feed, with no thread or connection of its own.
  WatchCache(WatchCacheOptions options, std::shared_ptr<PodFeed> feed, Clock& clock);
  ~WatchCache() override;

  // The current table. Waits for the first list; if its last try failed, returns that error.
  // kPermissionDenied and kUnimplemented (405): listing or watching is not allowed. kNotFound and
  // kResourceExhausted, also later on: the resource is gone, or has grown over the limit.
  absl::StatusOr<std::shared_ptr<const ObjectTable>> Get(MonotonicTime deadline);

  // Of its own watch; all zero where there is none.
  const WatchCounters& counters() const;

 private:
  void ListStarted() override;
  void Listed(absl::string_view object_json) override;
  void ListEnded() override;
  void Changed(ChangeType type, absl::string_view object_json) override;
  void Flushed() override;
  absl::Status Acceptable() override;
  void StatusChanged(const absl::Status& status) override;

  void Replaced(std::vector<ObjectPtr> objects) override;
  void Changed(std::vector<ObjectChange> changes) override;
  void SourceStatusChanged(const absl::Status& status) override;

  void Replace(std::vector<ObjectPtr> objects);
  void Apply(const std::vector<ObjectChange>& changes);
  void JudgeFeed();
  void Adopt(std::shared_ptr<const ObjectTable> table);

  const WatchCacheOptions options_;
  Clock& clock_;
  const std::shared_ptr<PodFeed> feed_;  // nullptr: it has a watch

  // Used by the watch's thread, or by the callers of the feed, one at a time.
  MetadataReader reader_;
  bool listing_ = false;
  absl::Status unreadable_;          // since the last list began
  std::vector<ObjectPtr> listed_;    // of the list under way
  std::vector<ObjectChange> batch_;  // since the last flush
  std::shared_ptr<const ObjectTable> current_ = std::make_shared<const ObjectTable>();
  absl::Status feed_status_;

  absl::Mutex mutex_;
  std::shared_ptr<const ObjectTable> table_ ABSL_GUARDED_BY(mutex_);
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);    // of the last try to list or watch
  bool withdrawn_ ABSL_GUARDED_BY(mutex_) = false;  // the table must no longer be used

  std::optional<ObjectWatch> watch_;  // last: it calls from its thread
};

}  // namespace flyball::kube
