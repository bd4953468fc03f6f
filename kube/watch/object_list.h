// One list of a resource: by pages, or all of it as one stream out of the API server's cache.
//
// For object_watch.cc, watch_cache.cc, and what looks at a cluster once. Thread-safe when the
// transport is.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "http/client/transport.h"
#include "kube/objects/object_json.h"
#include "kube/watch/object_watch.h"

namespace flyball::kube {

// "/api/v1/pods", "/apis/apps/v1/namespaces/shop/deployments".
std::string CollectionPath(const ObjectWatchOptions& options);

// The selectors, for the query of both list and watch: "" or
// "&fieldSelector=status.phase%3DRunning".
std::string SelectorQuery(const ObjectWatchOptions& options);

// Hands all objects to `handler`, beginning with ListStarted and without ListEnded; the answer is
// the resourceVersion to watch from. Only options.list_timeout limits a page's time. Errors: those
// of the transport and of HttpStatusCode, but a 429 is kUnavailable; the handler's;
// kInvalidArgument for what is no list.
absl::StatusOr<std::string> ListPages(http::HttpTransport& server,
                                      const ObjectWatchOptions& options, ObjectReader& reader,
                                      WatchHandler& handler);

// As ListPages, but the content may be as old as the API server's cache, where it was not read from
// etcd and costs a third of the time; no more of it than one object is held at a time. Only
// silence of options.list_timeout ends it early.
absl::StatusOr<std::string> ListFromCache(http::HttpTransport& server,
                                          const ObjectWatchOptions& options, ObjectReader& reader,
                                          WatchHandler& handler);

}  // namespace flyball::kube
