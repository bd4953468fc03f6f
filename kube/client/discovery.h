// Asks a cluster which resources it serves, in the order in which it lists them.
//
// Discover does I/O; the readers of the documents are pure. Of subresources only that of scaling is
// noted. Source: k8s.io/client-go v0.30.0 discovery and restmapper: per group the preferred version
// first, then what only other versions have; the core group first.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "http/client/transport.h"
#include "kube/objects/rest_mapping.h"

namespace flyball::kube {

struct Discovery {
  std::vector<ResourceInfo> resources;
  // Groups or versions that could not be asked, with the reason; their resources are missing.
  std::vector<std::string> problems;
};

// One group's versions, as either form of discovery gives them.
struct DiscoveredVersion {
  std::string version;
  std::vector<ResourceInfo> resources;
};
struct DiscoveredGroup {
  std::string name;
  std::vector<DiscoveredVersion> versions;  // the preferred one first
};

// Two requests to a server with aggregated discovery (1.26 and later), else one for each group
// version. A failing group is a problem; a server that does not answer /api or /apis is an error.
// `timeout` is for all of them together.
absl::StatusOr<Discovery> Discover(http::HttpTransport& server, Clock& clock,
                                   absl::Duration timeout);

// An APIGroupDiscoveryList. kInvalidArgument if it is none.
absl::StatusOr<std::vector<DiscoveredGroup>> ReadGroupDiscoveryList(
    absl::string_view body, std::vector<std::string>* problems);

// An APIGroupList (of /apis) or APIVersions (of /api): groups and versions without resources.
absl::StatusOr<std::vector<DiscoveredGroup>> ReadGroupList(absl::string_view body);

// An APIResourceList.
absl::StatusOr<std::vector<ResourceInfo>> ReadResourceList(absl::string_view body,
                                                           absl::string_view group,
                                                           absl::string_view version);

}  // namespace flyball::kube
