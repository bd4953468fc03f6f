// Reads from a cluster, for `flyball decide hpa/NAME`, what `decide -f` reads from files.
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
  // The first autoscaler is the requested one. The others are those of the namespace, since one
  // that selects the same pods stops it.
  scaler::ClusterSnapshot snapshot;
  // The cluster's version; the newest known one if the cluster does not report it.
  scaler::ServerVersion server = scaler::kNewestServer;
  // What could not be read, each as a line: a metric that fails is unknown to the decision.
  std::vector<std::string> gaps;
};

// Reads the HorizontalPodAutoscaler, the scale of its target, its pods, the answers of the metrics
// APIs for each of its metrics, and the other HorizontalPodAutoscalers of the namespace with their
// scales. It is an error if something is missing without which there can be no decision; the
// message names it.
absl::StatusOr<ReadSnapshot> ReadHpa(http::HttpTransport& server, Clock& clock,
                                     const std::string& ns, const std::string& name);

}  // namespace flyball::cmd
