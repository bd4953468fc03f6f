// Converts the annotations of a revision to the spec of an Autoscaler (CRD).
//
// Pure. The class hpa.autoscaling.knative.dev gives metrics, for which no front is needed; without
// a class, or with Knative's other one, the spec gets a trigger of type http.
// Source: Knative Serving v0.51.0 pkg/reconciler/autoscaling.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "convert/manifests.h"
#include "scaler/spec/knative/config.h"

namespace flyball::convert {

struct KnativeScaling {
  std::optional<int32_t> initial_scale;
  std::optional<int64_t> progress_deadline_seconds;
  bool by_requests = true;
};

struct KnativeRevision {
  std::string front_service;     // the Service that clients call
  std::string annotations_path;  // in the object
  std::string spec_path;
  scaler::knative::TextMap annotations;
  const nlohmann::ordered_json& spec;  // as it is in the object
  int64_t port = 8080;
};

// Adds bounds, and `triggers` or `metrics`, to `spec`.
KnativeScaling AddKnativeScaling(const KnativeRevision& revision, nlohmann::ordered_json& spec,
                                 Manifests& out);

}  // namespace flyball::convert
