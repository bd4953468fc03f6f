// What `flyball decide hpa/NAME` reads of a cluster, in the place of the files of `decide -f`.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "http/client/transport.h"
#include "scaler/explain/snapshot.h"
#include "scaler/spec/dialect.h"

namespace flyball::cmd {

struct ReadSnapshot {
  scaler::ClusterSnapshot snapshot;
  // The cluster's; the newest that is known where it does not tell.
  scaler::ServerVersion server = scaler::kNewestServer;
  // What could not be read, one a line: a metric that fails is unknown to the decision.
  std::vector<std::string> gaps;
};

// The HorizontalPodAutoscaler, the scale of its target, its pods, and what the metrics APIs answer
// for each of its metrics. An error names what the decision cannot be without.
absl::StatusOr<ReadSnapshot> ReadHpa(http::HttpTransport& server, Clock& clock,
                                     const std::string& ns, const std::string& name);

}  // namespace flyball::cmd
