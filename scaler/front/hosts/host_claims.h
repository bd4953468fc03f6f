// Decides which service gets a host that several services ask for.
//
// Pure. A service keeps a route for as long as it asks for it: otherwise any older service could
// take it away, with the requests of its users. If several services ask for a route that nobody
// has, the oldest one gets it, and of two that were created in the same second the first by name;
// the others lose only that host. A host, as it is written, belongs to the namespace of the service
// that gets it first: otherwise a service of another namespace could ask for a path or header of it
// and get its requests.
//
// All Envoys have all routes in one table, in which the routes of a wildcard are repeated for each
// host below it. So each namespace has two limits for the bytes of its routes: counted once, and
// with their repetitions.
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
  size_t bytes = 2 << 20;           // of a namespace's routes, each counted once
  size_t repeated_bytes = 8 << 20;  // of its wildcards' routes, repeated for the hosts below them
};

struct HostClaim {
  std::string service;
  absl::Time created;
  HostRoutes routes;
  HostRoutes had = {};  // previously; only what the service still asks for counts
};

struct HostGrant {
  HostRoutes routes;    // the routes that the service gets
  std::string refused;  // the other routes and why it does not get them; "": none
  bool operator==(const HostGrant&) const = default;
};

std::map<std::string, HostGrant> GrantHosts(std::vector<HostClaim> claims,
                                            const HostLimits& limits = {});

// How many bytes a route takes in the table, at most.
size_t RouteBytes(const HostPlace& place, const std::vector<HeaderNeed>& headers);

}  // namespace flyball::front
