// Lists a resource: by pages, or as one stream out of the API server's cache.
//
// For object_watch.cc, watch_cache.cc, and commands that read a cluster once. Thread-safe if the
// transport is.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "http/client/transport.h"
#include "kube/objects/object_json.h"
#include "kube/watch/object_watch.h"

namespace flyball::kube {

// "/api/v1/pods", "/apis/apps/v1/namespaces/shop/deployments".
std::string CollectionPath(const ObjectWatchOptions& options);

// The selectors, for the query of both list and watch: "" or
// "&fieldSelector=status.phase%3DRunning".
std::string SelectorQuery(const ObjectWatchOptions& options);

// Passes all objects to `handler`, beginning with ListStarted and without ListEnded. Returns the
// resourceVersion to watch from. Only options.list_timeout limits a page's time. Errors: those of
// the transport and of HttpStatusCode, except that a 429 is kUnavailable; the handler's;
// kInvalidArgument if the answer is no list, or if a page leads to itself.
absl::StatusOr<std::string> ListPages(http::HttpTransport& server,
                                      const ObjectWatchOptions& options, ObjectReader& reader,
                                      WatchHandler& handler);

// The newest version that the server has, by a list of at most one object. Errors as in ListPages.
absl::StatusOr<std::string> NewestVersion(http::HttpTransport& server,
                                          const ObjectWatchOptions& options, ObjectReader& reader);

// Like ListPages, but all in one piece; it takes a third of the time, and only one object is held
// in memory at a time. With version "0" the content comes from the API server's cache and may be as
// old as that. With "" it has everything that was written before; that comes from the cache too
// since Kubernetes 1.31, which first brings it up to date (with etcd 3.4.31 and newer), and else
// from etcd. The time limit is options.list_timeout without any data.
absl::StatusOr<std::string> ListWhole(http::HttpTransport& server,
                                      const ObjectWatchOptions& options, absl::string_view version,
                                      ObjectReader& reader, WatchHandler& handler);

}  // namespace flyball::kube
