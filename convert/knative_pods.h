// The pods of a revision as the template of a Deployment.
//
// Pure. What Knative does to the template before it makes pods of it is done here where pods depend
// on it: ports, probes that name none, PORT, how long a pod may take to end.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "convert/manifests.h"

namespace flyball::convert {

// How long a request may take where `timeoutSeconds` does not say it.
inline constexpr int64_t kKnativeTimeoutSeconds = 300;

struct KnativePods {
  bool found = false;  // false: no container takes requests, which was refused
  int64_t port = 8080;
  bool h2c = false;
};

// `spec` is the revision's, which stands at `path` in its object, and becomes the pods'.
KnativePods MakeKnativePods(nlohmann::ordered_json& spec, const std::string& path, Manifests& out);

}  // namespace flyball::convert
