// Converts the pods of a revision to the template of a Deployment.
//
// Pure. Of the changes that Knative makes to the template, those that pods depend on are made here
// too: ports, probes without a port, PORT, the termination grace period, a pause before SIGTERM.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "convert/manifests.h"

namespace flyball::convert {

// How long a request may take if there is no `timeoutSeconds`.
inline constexpr int64_t kKnativeTimeoutSeconds = 300;

struct KnativePods {
  int64_t port = 8080;
  bool h2c = false;
};

// Changes `spec`, which is the revision's spec at `path` in its object, into that of the pods.
KnativePods MakeKnativePods(nlohmann::ordered_json& spec, const std::string& path, Manifests& out);

}  // namespace flyball::convert
