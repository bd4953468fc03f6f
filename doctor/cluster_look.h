// Gathers what cluster.h and rights.h check. Reads only: GET, and SelfSubjectAccessReviews, which
// store nothing.
//
// Blocking; each call ends within `timeout`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/clock.h"
#include "doctor/cluster.h"
#include "doctor/rights.h"
#include "http/client/transport.h"
#include "kube/client/api_client.h"

namespace flyball::doctor {

struct LookOptions {
  std::string url;          // of the API server, to show
  bool in_cluster = false;  // addresses of Services can be reached
  absl::Duration timeout = absl::Seconds(10);
};

// With an API server that does not answer nothing but `version` is set.
ClusterFacts LookAtCluster(http::HttpTransport& server, Clock& clock, const LookOptions& options);

// Asked one after the other; not further once one can't be asked. `namespaces`: where to ask for a
// right to list that is denied for all namespaces.
std::vector<RightAnswer> AskRights(kube::ApiClient& api, const std::vector<Right>& rights,
                                   const std::vector<std::string>& namespaces);

}  // namespace flyball::doctor
