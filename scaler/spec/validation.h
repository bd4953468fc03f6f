// The API server's validation of a new HorizontalPodAutoscaler.
//
// Pure. Source: Kubernetes v1.34.4 pkg/apis/autoscaling/validation, pkg/apis/core/validation and
// apimachinery v0.34.4 pkg/api/validation. Texts and field paths are upstream's.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "scaler/spec/field_error.h"
#include "scaler/spec/hpa.h"

namespace flyball::scaler {

struct ValidationOptions {
  int32_t min_replicas_lower_bound = 1;
  bool allow_core_group_target = false;  // scaleTargetRef of kind ReplicationController
  bool wakes_by_trigger = false;         // triggers leave zero replicas: that needs no metric
};

void ValidateHpa(const Hpa& hpa, const ValidationOptions& options, FieldErrors& errors);

// metadata of a namespaced object whose name is a DNS subdomain.
void ValidateObjectMeta(const ObjectMeta& metadata, FieldErrors& errors);

// Each gives everything that is wrong with `text` as a DNS-1123 subdomain, a DNS-1123 label, a
// segment of a URL path, or the name of a container's resource; nothing when it is a good one.
std::vector<std::string> SubdomainProblems(absl::string_view text);
std::vector<std::string> DnsLabelProblems(absl::string_view text);
std::vector<std::string> PathSegmentProblems(absl::string_view text);
std::vector<std::string> ContainerResourceProblems(absl::string_view text);

}  // namespace flyball::scaler
