// All objects of one resource, kept current by list and watch.
//
// Holds names, namespaces and labels only. One thread lists by pages, then watches with bookmarks
// and goes on from the last resourceVersion after a break; an expired one (410) is a new list.
// Failures are retried with back-off and jitter. The last good table stays while the API server is
// away. Not here: which caches there are (cluster_directory.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/metadata_json.h"
#include "kube/object_table.h"
#include "kube/rest_mapping.h"
#include "kube/transport.h"

namespace flyball::kube {

struct WatchCacheOptions {
  ResourceInfo resource;
  bool running_only = false;     // only objects with status.phase=Running
  size_t max_objects = 500'000;  // more are kResourceExhausted
  int page_size = 500;
  absl::Duration list_timeout = absl::Seconds(60);  // of each page
  absl::Duration first_backoff = absl::Milliseconds(800);
  absl::Duration max_backoff = absl::Seconds(30);
  std::function<void()> on_change;  // after the table was replaced; from the cache's thread
};

// "/api/v1/pods", "/apis/apps/v1/namespaces/shop/deployments". `ns` "" is all namespaces.
std::string ResourcePath(const ResourceInfo& resource, absl::string_view ns);

// The query part of both list and watch: "" or a field selector.
std::string RunningOnlyQuery(bool running_only);

// Lists all pages. The page limits and errors are those of WatchCache.
struct ListedObjects {
  std::vector<ObjectPtr> objects;
  std::string resource_version;
};
absl::StatusOr<ListedObjects> ListObjects(HttpTransport& server, const WatchCacheOptions& options,
                                          absl::string_view ns, MetadataReader& reader);

class WatchCache {
 public:
  struct Counters {
    std::atomic<uint64_t> lists = 0;
    std::atomic<uint64_t> watches = 0;
    std::atomic<uint64_t> events = 0;
    std::atomic<uint64_t> failures = 0;  // of lists and watches, expiries included
  };

  // The transport is the cache's own: it is shut down at the end.
  WatchCache(WatchCacheOptions options, std::unique_ptr<HttpTransport> server);
  ~WatchCache();

  // The current table. Waits for the first list; if its last try failed, that is the error.
  // kPermissionDenied and kUnimplemented (405): listing or watching is not allowed. kNotFound and
  // kResourceExhausted, also later on: the resource is gone, or has grown over the limit.
  absl::StatusOr<std::shared_ptr<const ObjectTable>> Get(absl::Duration timeout);

  const Counters& counters() const { return counters_; }

 private:
  void Run();
  // List, then watch until the resourceVersion is of no use any more.
  absl::Status ListAndWatch();
  absl::Status WatchOnce(std::string* resource_version);
  absl::Status TakeLines(std::string* buffer, std::string* resource_version);
  void Publish(std::shared_ptr<const ObjectTable> table);
  // Waits for the next try; false if the cache is being destroyed.
  bool Pause();
  bool stopping();

  const WatchCacheOptions options_;
  const std::unique_ptr<HttpTransport> server_;
  Counters counters_;

  // The thread's own.
  MetadataReader reader_;
  std::minstd_rand random_;
  absl::Duration backoff_;
  std::shared_ptr<const ObjectTable> current_;

  absl::Mutex mutex_;
  std::shared_ptr<const ObjectTable> table_ ABSL_GUARDED_BY(mutex_);
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);    // of the last try since the last table
  bool withdrawn_ ABSL_GUARDED_BY(mutex_) = false;  // the table may not be used in spite of it
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace flyball::kube
