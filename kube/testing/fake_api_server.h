// A Kubernetes API server in memory, behind HttpTransport, for tests of its clients.
//
// Thread-safe; no sockets, no threads. Serves discovery, get, list (pages, selectors, metadata
// only), watch (bookmarks, expiry), create, update, merge patch and delete with resourceVersions
// like the real one, and the subresources status and scale. It always knows the resources that
// every cluster has (builtin_resources.h); AddKind adds custom ones. Not here: admission, defaults
// and validation of fields, access control, other patch types.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "http/client/transport.h"
#include "kube/objects/rest_mapping.h"

namespace flyball::kube {

class FakeApiServer {
 public:
  FakeApiServer();
  ~FakeApiServer();  // after its transports

  // A connection pool of its own to this server.
  std::unique_ptr<http::HttpTransport> Connect();
  std::function<absl::StatusOr<std::unique_ptr<http::HttpTransport>>()> Connector();

  // Adds a custom resource with a status and, with `scale`, the scale of spec.replicas,
  // status.replicas and status.selector. Discovery shows it from now on.
  void AddKind(const ResourceInfo& info, bool scale = false);

  // Stores a whole object, new or not, with its status, as if somebody else had written it; returns
  // it as stored. Its kind must be known: anything else ends the test.
  std::string Put(absl::string_view json);
  // Does the same as a merge patch of the object at `path` ("/api/v1/namespaces/shop/pods/web-1").
  std::string Patch(absl::string_view path, absl::string_view json);
  void Delete(absl::string_view path);

  // As stored; "" if there is none.
  std::string Get(absl::string_view path) const;
  // All objects of the collection ("/api/v1/namespaces/shop/events"), sorted by namespace and name.
  std::vector<std::string> List(absl::string_view path) const;

  // A fault of the next `times` requests that have this method ("WATCH" for a watch; "": any) and
  // `part` in their target. Earlier faults come first.
  struct Fault {
    std::string method = {};
    std::string part = {};
    int times = 1;
    int status = 500;         // 0: the connection breaks (kUnavailable)
    std::string reason = {};  // of the Status object
    std::string message = {};
    http::Headers headers = {};  // "Retry-After"
    bool applied = false;        // the request is carried out; only its answer is lost
  };
  void Inject(Fault fault);
  // How many requests faults have hit.
  int faults() const;

  // Called before each request is served, outside all locks; the request sees its changes.
  void OnRequest(std::function<void(const http::HttpCall&)> hook);

  // The minor version at /version; "": there is no such path.
  void SetVersion(const std::string& minor);
  // A dead server refuses everything and has cut its watches.
  void SetDead(bool dead);
  // Ends the open watches: without an error, as at their timeout, or broken.
  void CutWatches(bool well = false);
  // Forgets all changes and pages so far: open watches get an error event 410, later ones with an
  // older resourceVersion too, and continue tokens are 410.
  void ExpireVersions();
  // Sends a bookmark to each open watch.
  void SendBookmarks();
  // How many watches are open.
  int watches() const;

  struct Request {
    std::string method;  // "WATCH" for a watch
    std::string target;
    std::string body;
  };
  std::vector<Request> Requests() const;
  // Counts those with this method ("": any) and `part` in the target.
  int CountRequests(absl::string_view method, absl::string_view part) const;
  // Waits until there were `count` of them; false: not within a generous time.
  bool AwaitRequests(absl::string_view method, absl::string_view part, int count) const;
  // Waits until `count` watches are open.
  bool AwaitWatches(int count) const;

 private:
  class Impl;
  class Transport;
  std::unique_ptr<Impl> impl_;
};

}  // namespace flyball::kube
