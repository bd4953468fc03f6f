// Follows one resource of a cluster by list and watch: whole objects as JSON, one at a time.
//
// One thread lists, then watches with bookmarks and continues from the last resourceVersion after a
// break; if that has expired (410) or is refused it lists again. The first list comes from the API
// server's cache, like those of Kubernetes' own controllers, and may be as old as that (but see
// ObjectWatchOptions::begins_current); later ones come from etcd. Failures are retried for ever,
// with back-off and jitter. A stream without data for 90 seconds is reopened, so that a dead
// connection is noticed. If it has never had any data, not even a bookmark, and after a failed
// watch, the server is asked for its newest version, and listed again if that is older: after a
// restore of etcd to an earlier state, a watch from a later version waits in silence. An event or a
// bookmark of an earlier version leads to a new list, too. Streams that the server ends at once, or
// after nothing but an error, count as failures from the second on. If many in a row were over at
// once, though with events, each further one comes after a pause. The handler is called from that
// thread only and keeps what it needs: nothing is cached here, and at most one page of a list is
// held (all of it if pages expire while they are read).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "http/client/transport.h"
#include "kube/objects/rest_mapping.h"

namespace flyball::kube {

enum class ChangeType { kAdded, kModified, kDeleted };

// Methods that are not overridden do nothing. Every object's text begins with its apiVersion and
// kind, even if the server's list leaves them out. It is valid until the call returns.
class WatchHandler {
 public:
  virtual ~WatchHandler() = default;
  // The whole content at one moment: ListStarted, Listed for each object, ListEnded. An object that
  // was not listed in between no longer exists. A list that breaks off starts again, with no
  // ListEnded.
  virtual void ListStarted() {}
  virtual void Listed(absl::string_view /*object_json*/) {}
  virtual void ListEnded() {}
  // One change since then; for a deletion the last known object.
  virtual void Changed(ChangeType /*type*/, absl::string_view /*object_json*/) {}
  // After each piece of the stream was handed over: the changes of one batch are complete.
  virtual void Flushed() {}
  // Asked after each page of a list and each batch of changes. An error ends the list or watch as a
  // failure; after the back-off the resource is listed again.
  virtual absl::Status Acceptable() { return absl::OkStatus(); }
  // The last try to list or watch failed, so the data may be out of date. OK: it works again and a
  // watch is open; missed changes may still be on their way. Called when the status changes; at the
  // beginning it is OK.
  virtual void StatusChanged(const absl::Status& /*status*/) {}
  // No stream is open, so no changes are reported until Opened. Called after the first list, and
  // whenever a stream has ended, even without an error; perhaps twice in a row.
  virtual void Opening() {}
  virtual void Opened() {}
};

struct ObjectWatchOptions {
  ResourceInfo resource;
  std::string ns;              // "" is all namespaces
  std::string label_selector;  // "" is all
  std::string field_selector;  // "" is all
  bool metadata_only = false;  // objects are PartialObjectMetadata
  // The first list has everything that was written before it began, as later lists have. Since
  // Kubernetes 1.31 it still comes from the API server's cache, which is brought up to date for it;
  // before it comes from etcd, in one piece.
  bool begins_current = false;
  int page_size = 500;
  absl::Duration list_timeout = absl::Seconds(60);  // of each page
  absl::Duration first_backoff = absl::Milliseconds(800);
  absl::Duration max_backoff = absl::Seconds(30);
  absl::Duration long_stream = absl::Seconds(10);  // a stream that lasts so long works
};

struct WatchCounters {
  std::atomic<uint64_t> lists = 0;
  std::atomic<uint64_t> watches = 0;
  std::atomic<uint64_t> events = 0;    // bookmarks included
  std::atomic<uint64_t> failures = 0;  // of lists and watches, expiries included
};

class ObjectWatch {
 public:
  // Begins at once. Clock and handler outlive the watch, whose end shuts the transport down.
  ObjectWatch(ObjectWatchOptions options, std::shared_ptr<http::HttpTransport> server, Clock& clock,
              WatchHandler& handler);
  ~ObjectWatch();  // ends the stream and waits for the thread
  ObjectWatch(const ObjectWatch&) = delete;
  ObjectWatch& operator=(const ObjectWatch&) = delete;

  const WatchCounters& counters() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace flyball::kube
