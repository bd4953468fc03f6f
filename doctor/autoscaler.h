// Checks one autoscaler: its target, its pods, its metrics, its conditions.
//
// The facts are plain values; the checks are pure. The looks (autoscaler_look.cc) gather the facts:
// they only read; they block, and each of their calls ends within its timeout.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "doctor/finding.h"
#include "doctor/metric.h"
#include "doctor/target_object.h"
#include "http/client/transport.h"
#include "kube/client/api_client.h"
#include "kube/client/scale.h"
#include "kube/objects/rest_mapping.h"
#include "scaler/spec/dialect.h"
#include "scaler/stores/managed.h"

namespace flyball::doctor {

struct AutoscalerFacts : scaler::Managed {
  scaler::Dialect dialect;          // of the cluster's controller
  std::vector<std::string> rivals;  // "hpa web2": others that scale the same target
  absl::Status target_kind;         // whether the cluster knows the kind
  absl::Status target;              // whether the object exists
  absl::StatusOr<kube::Scale> scale;
  absl::Status pods_read;  // reading the pods of scale.selector
  MeasuredPods measured;
  TargetFacts own_object;  // from the target's own object and its pods
  std::vector<MetricFacts> metrics;
};

// "hpa shop/web".
std::string AutoscalerTitle(const scaler::AutoscalerKey& autoscaler);
// "hpa ", "autoscaler ".
const char* KindWord(const scaler::AutoscalerKey& autoscaler);

Findings CheckAutoscaler(const AutoscalerFacts& facts, absl::Time now);
// Whether a target at zero replicas will be woken, which depends on the version of the HPA
// controller (at_zero.cc). Must be called only if the scale is known and has zero replicas.
Finding CheckAtZero(const AutoscalerFacts& facts);

// HPAs and, if the kind is defined, Autoscalers; `ns` "" means all namespaces. Sorted by namespace,
// HPAs first. The error is that of listing HPAs; one of listing Autoscalers is ignored.
absl::StatusOr<std::vector<scaler::ManagedPtr>> ListAutoscalers(http::HttpTransport& server,
                                                                absl::string_view ns,
                                                                absl::Duration timeout);

// Whether both write the scale of the same object. `default_mode` is the mode of Autoscalers that
// name none.
bool AreRivals(const scaler::Managed& a, const scaler::Managed& b, scaler::Mode default_mode);

struct AutoscalerLookDeps {
  http::HttpTransport& server;
  kube::ApiClient& api;
  const kube::RestMapper& mapper;
  MetricLooker& metrics;
  scaler::Mode default_mode = scaler::Mode::kShadow;
  scaler::Dialect dialect = {};  // of the cluster's controller
  absl::Duration timeout = absl::Seconds(10);
};

// Looks for rivals among `all`.
AutoscalerFacts LookAtAutoscaler(const scaler::Managed& one,
                                 const std::vector<scaler::ManagedPtr>& all,
                                 const AutoscalerLookDeps& deps);

}  // namespace flyball::doctor
