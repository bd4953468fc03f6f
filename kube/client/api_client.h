// Single objects of the Kubernetes API as JSON text: get, create, update, patch.
//
// Thread-safe. Errors have the code of HttpStatusCode (transport.h) and only the message of the
// API's Status object, like client-go's errors: `deployments.apps "web" not found`. kAborted is a
// conflict (409 Conflict); kAlreadyExists is 409 AlreadyExists; kResourceExhausted is a 429, and an
// answer that is too large is kInternal. 429 and 5xx with Retry-After are tried again after that
// time, within the timeout, at most three times. If nothing can be sent the errors are the
// transport's. All calls name their object and so may be repeated: a call whose kept connection
// turns out to be closed is sent once more.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "http/client/transport.h"

namespace flyball::kube {

class ApiClient {
 public:
  // How many calls of each kind were made, and how many failed; for self-metrics.
  struct Counters {
    std::atomic<uint64_t> gets = 0, creates = 0, updates = 0, patches = 0, errors = 0;
  };

  // Server and clock outlive the client. `timeout` is for each call with all its tries.
  ApiClient(http::HttpTransport& server, Clock& clock, absl::Duration timeout = absl::Seconds(10))
      : server_(server), clock_(clock), timeout_(timeout) {}

  // Paths begin with "/api/" or "/apis/"; the answer is the object as stored.
  absl::StatusOr<std::string> Get(absl::string_view path);
  absl::StatusOr<std::string> Create(absl::string_view path, absl::string_view json);
  // Is asked before each further try; false: the last answer is returned. `maybe_done`: an earlier
  // try may have had its effect, as after a 5xx.
  using MayTryAgain = absl::FunctionRef<bool(bool maybe_done)>;
  absl::StatusOr<std::string> Update(absl::string_view path, absl::string_view json,
                                     MayTryAgain may_try_again = Always);
  // application/merge-patch+json. A resourceVersion in its metadata makes it conditional.
  absl::StatusOr<std::string> MergePatch(absl::string_view path, absl::string_view json);

  static bool Always(bool /*maybe_done*/) { return true; }

  bool InProcess() const { return server_.InProcess(); }

  // Ends waits for a Retry-After, present and future ones. Calls under way are ended by the
  // transport.
  void Shutdown();

  const Counters& counters() const { return counters_; }

 private:
  absl::StatusOr<std::string> Call(absl::string_view method, absl::string_view path,
                                   absl::string_view json, absl::string_view content_type,
                                   MayTryAgain may_try_again = Always);
  absl::StatusOr<std::string> Try(http::HttpCall call, MayTryAgain may_try_again);
  // Waits for that time. False: the deadline or Shutdown came first.
  bool Wait(absl::Duration wait);

  http::HttpTransport& server_;
  Clock& clock_;
  const absl::Duration timeout_;
  Counters counters_;
  absl::Mutex mutex_;
  bool shut_ ABSL_GUARDED_BY(mutex_) = false;
};

// "/api/v1/namespaces/shop/pods/web-1", "/apis/apps/v1/namespaces/shop/deployments/web/scale".
// `ns` "" for cluster-scoped ones; `subresource` "" for none.
std::string ObjectPath(absl::string_view group, absl::string_view version, absl::string_view ns,
                       absl::string_view resource, absl::string_view name,
                       absl::string_view subresource = "");

}  // namespace flyball::kube
