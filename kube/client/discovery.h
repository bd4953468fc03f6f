// Asks a cluster which resources it serves, in the order in which it lists them.
//
// Of subresources only `scale` is noted; metrics that are listed as resources are none. Source:
// k8s.io/client-go v0.30.0 discovery and restmapper: in each group the preferred version first,
// then resources that only other versions have; the core group first.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/clock.h"
#include "http/client/transport.h"
#include "kube/objects/rest_mapping.h"

namespace flyball::kube {

struct Discovery {
  std::vector<ResourceInfo> resources;
  // Groups or versions that could not be asked, with the reason; for them `former` is used.
  // Failures of the metrics APIs are left out, since these have no objects.
  std::vector<std::string> problems;
};

// Sends two requests to a server with aggregated discovery (1.26 and later), else one for each
// group version. A failing group is a problem; a server that does not answer /api or /apis is an
// error. `timeout` limits all of them together. `former`: the resources of an earlier discovery,
// which replace those of a version that could not be asked.
absl::StatusOr<Discovery> Discover(http::HttpTransport& server, Clock& clock,
                                   absl::Duration timeout,
                                   absl::Span<const ResourceInfo> former = {});

}  // namespace flyball::kube
