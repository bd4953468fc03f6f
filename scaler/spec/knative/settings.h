// A revision's settings: those of its annotations, and where it has none, those of the config.
//
// Pure. Source: Knative Serving v0.51.0 pkg/reconciler/autoscaling (kpa/resources/decider.go,
// resources/metric.go, resources/target.go).
#pragma once

#include <cstdint>

#include "scaler/spec/knative/config.h"
#include "scaler/spec/request_settings.h"

namespace flyball::scaler::knative {

enum class Reachability { kUnknown, kReachable, kUnreachable };

struct Revision {
  TextMap annotations;
  int64_t container_concurrency = 0;  // 0: without limit
  Reachability reachability = Reachability::kUnknown;
};

// An annotation that does not parse counts as absent; CheckAnnotations is what refuses it.
RequestSettings ResolveSettings(const Config& config, const Revision& revision);

}  // namespace flyball::scaler::knative
