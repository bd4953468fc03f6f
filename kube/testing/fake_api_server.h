// A Kubernetes API server in memory, behind HttpTransport: for tests of whatever talks to one.
//
// Thread-safe; no sockets, no threads. Serves discovery, get, list (pages, selectors, metadata
// only), watch (bookmarks, expiry), create, update, merge patch and delete with resourceVersions as
// the real one has them, and the subresources status and scale. Known from the start is what every
// cluster has (builtin_resources.h); AddKind adds custom resources. Not here: admission, defaults
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

  // A custom resource with a status, and the scale of spec.replicas, status.replicas and
  // status.selector if `scale`. Discovery shows it from now on.
  void AddKind(const ResourceInfo& info, bool scale = false);

  // Stores an object, new or not, whole with its status, as if somebody else had written it; the
  // answer is it as stored. Its kind must be known: anything else ends the test.
  std::string Put(absl::string_view json);
  // The same as a merge patch of the object at `path` ("/api/v1/namespaces/shop/pods/web-1").
  std::string Patch(absl::string_view path, absl::string_view json);
  void Delete(absl::string_view path);

  // As stored; "" if there is none.
  std::string Get(absl::string_view path) const;
  // All objects of the collection ("/api/v1/namespaces/shop/events"), sorted by namespace and name.
  std::vector<std::string> List(absl::string_view path) const;

  // What happens to the next `times` requests that have this method (a watch's is "WATCH"; "" is
  // any) and `part` in their target. Earlier faults come first.
  struct Fault {
    std::string method = {};
    std::string part = {};
    int times = 1;
    int status = 500;         // 0: the connection breaks (kUnavailable)
    std::string reason = {};  // of the Status object
    std::string message = {};
    http::Headers headers = {};  // "Retry-After"
    bool applied = false;        // the request is carried out first; only its answer is lost
  };
  void Inject(Fault fault);
  // How many requests faults have hit.
  int faults() const;

  // Before each request is served, outside all locks; what it changes here the request sees.
  void OnRequest(std::function<void(const http::HttpCall&)> hook);

  // The minor version that /version tells; "": there is no such path.
  void SetVersion(const std::string& minor);
  // A dead server refuses everything and has cut its watches.
  void SetDead(bool dead);
  // Ends the open watches: well, as at their timeout, or broken.
  void CutWatches(bool well = false);
  // Forgets all changes and pages so far: open watches get an error event 410, later ones with an
  // older resourceVersion too, and continue tokens are 410.
  void ExpireVersions();
  // Sends one to each open watch.
  void SendBookmarks();
  // How many watches are open.
  int watches() const;

  struct Request {
    std::string method;  // "WATCH" for a watch
    std::string target;
    std::string body;
  };
  std::vector<Request> Requests() const;
  // With this method ("" is any) and `part` in the target.
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
