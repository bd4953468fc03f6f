// One autoscaler: its target, its pods, its metrics, its conditions.
//
// The facts are plain values, gathered by autoscaler_look.h; the checks are pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "doctor/finding.h"
#include "doctor/metric.h"
#include "kube/client/scale.h"
#include "scaler/spec/autoscaler.h"
#include "scaler/spec/own_spec.h"

namespace flyball::doctor {

// An autoscaler as the cluster holds it.
struct ListedAutoscaler {
  bool own = false;  // of flyball.dev; else a HorizontalPodAutoscaler
  scaler::Autoscaler spec;
  scaler::OwnSpec beyond;  // of our own kind
  std::string error;       // what its parser refuses
};

struct AutoscalerFacts : ListedAutoscaler {
  std::vector<std::string> rivals;  // "hpa web2": others that scale the same target
  absl::Status target_kind;         // the cluster knows the kind
  absl::Status target;              // the object is there
  absl::StatusOr<kube::Scale> scale;
  absl::Status pods_read;  // reading the pods of scale.selector
  MeasuredPods measured;
  std::vector<MetricFacts> metrics;
};

// "hpa shop/web".
std::string AutoscalerTitle(const ListedAutoscaler& listed);

Findings CheckAutoscaler(const AutoscalerFacts& facts, absl::Time now);

}  // namespace flyball::doctor
