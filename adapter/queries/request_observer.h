// An observer of the requests that a metric source sends.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace flyball::adapter {

// Told of requests and of each change of server; thread-safe. `path` is "/api/v1/query" or
// "/api/v1/series", `server` is ServerUrl::shown.
class RequestObserver {
 public:
  virtual ~RequestObserver() = default;
  // How long an answer took. A call without one counts for nothing, as in prometheus-adapter.
  virtual void OnRequest(absl::string_view path, absl::string_view server,
                         absl::Duration duration) = 0;
  // The outcome: OK, also if the server refused the query, or why there is no answer.
  virtual void OnOutcome(absl::string_view server, const absl::Status& outcome) = 0;
  virtual void OnServerChange(absl::string_view server) = 0;
};

}  // namespace flyball::adapter
