// Whose a host is that several services ask for.
//
// Pure. The oldest service has it, and of two of the same second the first by name; the others go
// without, and without nothing else. A host as it is written is the namespace's whose service has
// it first: else another's service could ask for a path or a header of it, and get its requests.
//
// All Envoys have all routes in one table, in which the routes of a wildcard are repeated for each
// host below it. Therefore each namespace has a limit for what its routes take, once and repeated.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "scaler/front/hosts/host_routes.h"

namespace flyball::front {

struct HostLimits {
  bool shared = false;              // services of several namespaces may have routes of one host
  size_t bytes = 1 << 20;           // of a namespace's routes, each once
  size_t repeated_bytes = 4 << 20;  // of what its wildcards' routes take for the hosts below them
};

struct HostClaim {
  std::string service;
  absl::Time created;
  HostRoutes routes;
};

struct HostGrant {
  HostRoutes routes;    // those that are its own
  std::string refused;  // which are not, and why; "": none
  bool operator==(const HostGrant&) const = default;
};

std::map<std::string, HostGrant> GrantHosts(std::vector<HostClaim> claims,
                                            const HostLimits& limits = {});

// What a route takes in the table, at most.
size_t RouteBytes(const HostPlace& place, const std::vector<HeaderNeed>& headers);

}  // namespace flyball::front
