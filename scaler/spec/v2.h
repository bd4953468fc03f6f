// A HorizontalPodAutoscaler as the API server holds it between decoding and storing: autoscaling/v2
// with every field as the client wrote it, valid or not. Autoscalers (CRD) have its spec.
//
// Plain values, only for this folder and those in it: other folders use the Autoscaler that is
// compiled from them.
// Source: k8s.io/api v0.34.4 autoscaling/v2.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kube/objects/quantity.h"
#include "scaler/spec/autoscaler.h"
#include "scaler/spec/document.h"
#include "scaler/spec/field_error.h"
#include "scaler/spec/object_meta.h"

namespace flyball::scaler {

struct HpaTarget {
  std::string type;
  std::optional<kube::Quantity> value;
  std::optional<kube::Quantity> average_value;
  std::optional<int32_t> average_utilization;
};

// Any of the five sources; each uses the fields that it has in the API.
struct HpaSource {
  ObjectReference described_object;       // object
  std::string name;                       // resource, containerResource
  std::string container;                  // containerResource
  std::string metric_name;                // object, pods, external
  std::optional<LabelSelector> selector;  // object, pods, external
  HpaTarget target;
};

// A metric spec. A metric's status has the same blocks, with amounts where the spec has targets.
struct HpaMetric {
  std::string type;
  std::optional<HpaSource> object;
  std::optional<HpaSource> pods;
  std::optional<HpaSource> resource;
  std::optional<HpaSource> container_resource;
  std::optional<HpaSource> external;
};

struct HpaBlock {
  MetricType type;
  const char* name;
  std::optional<HpaSource> HpaMetric::*member;
};
inline constexpr HpaBlock kHpaBlocks[] = {
    {MetricType::kObject, "object", &HpaMetric::object},
    {MetricType::kPods, "pods", &HpaMetric::pods},
    {MetricType::kResource, "resource", &HpaMetric::resource},
    {MetricType::kContainerResource, "containerResource", &HpaMetric::container_resource},
    {MetricType::kExternal, "external", &HpaMetric::external}};

struct HpaPolicy {
  std::string type;
  int32_t value = 0;
  int32_t period_seconds = 0;
};

struct HpaRules {
  std::optional<int32_t> stabilization_window_seconds;
  std::optional<std::string> select_policy;
  std::optional<std::vector<HpaPolicy>> policies;  // `[]` is not the same as absent
  std::optional<kube::Quantity> tolerance;
};

struct HpaBehavior {
  std::optional<HpaRules> scale_up;
  std::optional<HpaRules> scale_down;
};

struct Hpa {
  ObjectMeta metadata;
  ObjectReference scale_target_ref;
  std::optional<int32_t> min_replicas;
  int32_t max_replicas = 0;
  std::vector<HpaMetric> metrics;
  std::optional<HpaBehavior> behavior;
  AutoscalerStatus status;
};

// Reads autoscaling/v2. kInvalidArgument: a field has another type than in the API.
absl::StatusOr<Hpa> DecodeV2(const Node& document);

// Reads autoscaling/v1 into the same form, as the API server does: with v1's defaults, the fields
// that v1 hides in annotations, and the metric that an object without any gets. Unreadable
// annotations are ignored. Errors as those of DecodeV2.
// v1 cannot omit the value of an Object metric; with `zero_is_no_value` (since 1.36) a value of 0
// beside an average counts as omitted.
absl::StatusOr<Hpa> DecodeV1(const Node& document, bool zero_is_no_value = false);

// Fills the fields that an autoscaling/v2 object leaves open. An object without metrics gets one on
// cpu, unless it has triggers, which count as metrics.
void ApplyV2Defaults(Hpa& hpa, bool has_triggers = false);

// How an API server refuses a maxReplicas below 1.
enum class MaxReplicasText {
  kInvalid,        // up to 1.35: as an invalid value
  kRequired,       // 0 counts as missing, and the error has a detail
  kRequiredAlone,  // 0 counts as missing, and the error has no detail
};

struct ValidationOptions {
  MetaRules meta;
  MaxReplicasText max_replicas_text = MaxReplicasText::kInvalid;
  int32_t min_replicas_lower_bound = 1;
  bool allow_core_group_target = false;  // scaleTargetRef of kind ReplicationController
  bool wakes_by_trigger = false;         // a trigger ends zero replicas, no metric is needed
};

// Validates a new HorizontalPodAutoscaler as the API server does, with the same texts and field
// paths (pkg/apis/autoscaling/validation, pkg/apis/core/validation of Kubernetes v1.34.4 and
// v1.37.1).
void ValidateHpa(const Hpa& hpa, const ValidationOptions& options, FieldErrors& errors);

// Makes the form that the replica math works on. `hpa` has its defaults.
Autoscaler CompileHpa(const Hpa& hpa);

// Compiles one entry of status.currentMetrics. If it has several blocks, the first one counts,
// which is the one that upstream shows.
MetricStatus CompileMetricStatus(HpaMetric&& status);

// A Resource metric: cpu at that percentage of the request.
HpaMetric CpuUtilizationMetric(int32_t percent);

inline constexpr int32_t kDefaultCpuUtilization = 80;

}  // namespace flyball::scaler
