// Named health checks behind /healthz, /livez and /readyz.
//
// Thread-safe once built. The answers are those of the Kubernetes API server library 0.30
// (`[+]name ok`, `[-]name failed: reason withheld`), plus warnings, which never fail a check.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace flyball::apiservice {

struct HealthCheck {
  std::string name;                     // the last part of its path: /readyz/NAME
  std::function<absl::Status()> check;  // called on each probe: a few loads, no I/O
  bool liveness = false;                // part of /livez and /healthz as well as of /readyz
  bool warning_only = false;            // shown by ?verbose as `[!]`, never fails
};

struct HealthAnswer {
  int status = 200;
  std::string body;
};

class HealthChecks {
 public:
  // `checks` follow the built-in `ping` and `log` in their order.
  explicit HealthChecks(std::vector<HealthCheck> checks);

  // `endpoint`: healthz, livez or readyz. `excluded`: names of ?exclude=. A name that does not
  // exist is reported, not refused.
  HealthAnswer Run(absl::string_view endpoint, bool verbose,
                   const std::vector<std::string>& excluded) const;

  // Runs one check by name; 404 without a body if the endpoint has no such check.
  HealthAnswer RunOne(absl::string_view endpoint, absl::string_view name) const;

  std::vector<std::string> Names(absl::string_view endpoint) const;

 private:
  std::vector<HealthCheck> checks_;
};

}  // namespace flyball::apiservice
