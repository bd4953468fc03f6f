// The aggregated API server: TLS listener, authentication, authorization, the metrics APIs,
// discovery, OpenAPI, health, /metrics.
//
// Threads: one accepts and sweeps, `workers` to `max_workers` serve (http/server/event_workers.h),
// one watches the files of the serving certificate, one the CA files and one the token file if any
// are named, and one the authentication ConfigMap if it is looked up. Start is called once, and not
// at the same time as another method; the others may be called from any thread.
//
// Shutdown is ordered: /readyz fails, `shutdown_delay` passes, the listener closes, requests under
// way are answered, the rest is closed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "adapter/provider.h"
#include "apiservice/endpoints/health.h"
#include "apiservice/options.h"
#include "base/clock.h"
#include "http/client/transport.h"
#include "http/server/pages.h"

namespace prometheus {
class Collectable;
}

namespace flyball::apiservice {

// What the server is built on. The clock and what raw pointers point to outlive the server.
struct ServerDependencies {
  explicit ServerDependencies(Clock& its_clock) : clock(its_clock) {}

  Clock& clock;
  // The present providers; called once a request, costs a few pointer copies.
  std::function<adapter::Providers()> providers;
  // The Kubernetes API for TokenReview and the ConfigMap; nullptr: no cluster, neither is used.
  // When the server stops it shuts this down to end its watch of the ConfigMap, if it has one.
  std::shared_ptr<http::HttpTransport> authentication;
  // The Kubernetes API for SubjectAccessReview; needed for AuthorizationMode::kReview.
  http::HttpTransport* authorization = nullptr;
  // Metrics shown at /metrics in addition to the server's own.
  std::vector<std::weak_ptr<prometheus::Collectable>> metrics;
  // Appends further metrics as text, where there are many; empty function: there are none.
  std::function<void(std::string&)> more_metrics;
  // OK if the objects that every answer needs are known; empty function: they always are.
  std::function<absl::Status()> objects_known;
  std::vector<HealthCheck> checks;  // health checks beside the server's own
  // The body of /debug/rules, JSON; empty function: 404.
  std::function<std::string()> debug_rules;
  // The same for /debug/decisions, whose body depends on the query.
  DebugPage debug_decisions;
  // Further pages. A SubjectAccessReview asks about their paths, with the method as its verb.
  std::vector<http::Pages*> pages;
};

class ApiServer {
 public:
  // Reads the certificates (makes the self-signed pair if none is named), the CA and token files
  // and, with a cluster, the authentication ConfigMap. An API server that cannot be reached is no
  // error: /readyz fails until it answers, unless tolerate_lookup_failure is on.
  //   kInvalidArgument     a file or option is wrong: the message names it
  //   kNotFound            there is no such token file
  //   kFailedPrecondition  the cert-dir cannot be written, or the API server refuses the ConfigMap
  //                        or has none, and tolerate_lookup_failure is off
  static absl::StatusOr<std::unique_ptr<ApiServer>> Create(ServerOptions options,
                                                           ServerDependencies dependencies);
  ~ApiServer();  // like Shutdown() without its delay

  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  // Binds and begins to serve.
  //   kInvalidArgument    the bind address is no IP address
  //   kUnavailable        the address cannot be listened on, and the message names it; or no file
  //                       descriptors are left
  //   kResourceExhausted  the threads that it needs can't be made
  absl::Status Start();

  // The port that is listened on; 0 before Start.
  int port() const;

  // From now on /readyz fails and connections are closed after their answers; everything else
  // continues as before. Returns when shutdown_delay has passed since the first call.
  void BeginShutdown();

  // BeginShutdown, then the listener closes. Returns when the last request is answered or
  // a minute is over; every caller waits for that.
  void Shutdown();

 private:
  class Impl;
  explicit ApiServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace flyball::apiservice
