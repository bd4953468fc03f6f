// An API server in this process, behind HttpTransport: code that works with a cluster works with
// the objects of a folder in the same way.
//
// Thread-safe; no sockets, no threads. Objects are only in memory; their owner puts them in. It
// always knows the resources that every cluster has (kube/objects/builtin_resources.h); AddKind
// adds others. Whoever has a transport may do everything. Limits: watches get the last kKeptChanges
// changes; an older one is told to list again.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "http/client/transport.h"
#include "kube/objects/rest_mapping.h"

namespace flyball::kube {

class LocalApi;

class LocalApiServer {
 public:
  static constexpr size_t kKeptChanges = 10'000;

  explicit LocalApiServer(Clock& clock);  // which outlives it
  ~LocalApiServer();                      // after its transports

  // A connection to it.
  std::unique_ptr<http::HttpTransport> Connect();

  // Adds a kind with a status, and, with `scale`, with a scale of spec.replicas, status.replicas
  // and status.selector. One that has been added before gets the plural and the scope of `info`,
  // and only those; its objects are to be deleted first. One that every cluster has stays as it is.
  void AddKind(const ResourceInfo& info, bool scale);

  // Stores a whole object with its status, new or not. kInvalidArgument: no object with a name,
  // kNotFound: its kind is not known.
  absl::Status Put(absl::string_view json);
  // By path ("/api/v1/namespaces/shop/pods/web-1"). Does nothing if there is no such object.
  void Delete(absl::string_view path);
  // As stored; "" if there is none.
  std::string Get(absl::string_view path) const;
  // All objects of the collection ("/api/v1/pods"), sorted by namespace and name.
  std::vector<std::string> List(absl::string_view path) const;

  // Called with its path after each request that may have written something, from the thread of the
  // request and outside of all locks. Set before the first transport is made.
  void OnWrite(std::function<void(absl::string_view path)> on_write) {
    on_write_ = std::move(on_write);
  }

 private:
  class Transport;
  absl::StatusOr<http::HttpAnswer> Do(const http::HttpCall& call, const bool& shut);
  absl::Status Stream(const http::HttpCall& call, const bool& shut,
                      const std::function<bool(absl::string_view)>& on_data);

  Clock& clock_;
  std::function<void(absl::string_view path)> on_write_;
  mutable absl::Mutex mutex_;
  const std::unique_ptr<LocalApi> api_ ABSL_PT_GUARDED_BY(mutex_);
};

}  // namespace flyball::kube
