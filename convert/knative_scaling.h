// The annotations of a revision as the spec of an Autoscaler (CRD).
//
// Pure. Of the class hpa.autoscaling.knative.dev come metrics, which no front is needed for; of any
// other a trigger of type http.
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
  std::string front_service;     // which clients call
  std::string annotations_path;  // in its object
  std::string spec_path;
  scaler::knative::TextMap annotations;
  const nlohmann::ordered_json& spec;  // as it was written
  int64_t port = 8080;
};

// Bounds, and `triggers` or `metrics`, into `spec`.
KnativeScaling AddKnativeScaling(const KnativeRevision& revision, nlohmann::ordered_json& spec,
                                 Manifests& out);

}  // namespace flyball::convert
