// Whose a host is that several services ask for.
//
// Pure. The oldest service has it, and of two of the same second the first by name; the others go
// without, and without nothing else.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "scaler/front/hosts/host_routes.h"

namespace flyball::front {

struct HostClaim {
  std::string service;
  absl::Time created;
  HostRoutes routes;
};

struct HostGrant {
  HostRoutes routes;    // those that are its own
  std::string refused;  // which are another's, and whose; "": none
  bool operator==(const HostGrant&) const = default;
};

std::map<std::string, HostGrant> GrantHosts(std::vector<HostClaim> claims);

}  // namespace flyball::front
