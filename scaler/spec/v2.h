// A HorizontalPodAutoscaler as the API server holds it between decoding and storing: autoscaling/v2
// with every field as the client wrote it, legal or not.
//
// Plain values, for this folder only: what has passed validation leaves it as an Autoscaler.
// Source: k8s.io/api v0.34.4 autoscaling/v2, apimachinery v0.34.4 meta/v1.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kube/objects/quantity.h"
#include "scaler/spec/autoscaler.h"
#include "scaler/spec/document.h"

namespace flyball::scaler {

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  bool controller = false;
};

struct ManagedFields {
  std::string manager;
  std::string operation;
  std::string fields_type;
  std::string subresource;
};

// The fields of metav1.ObjectMeta that are validated or kept.
struct ObjectMeta {
  std::string name;
  std::string generate_name;
  std::string ns;
  std::string uid;
  std::string resource_version;
  int64_t generation = 0;
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
  std::vector<OwnerReference> owner_references;
  std::vector<std::string> finalizers;
  std::vector<ManagedFields> managed_fields;
};

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

struct HpaMetric {
  std::string type;
  std::optional<HpaSource> object;
  std::optional<HpaSource> pods;
  std::optional<HpaSource> resource;
  std::optional<HpaSource> container_resource;
  std::optional<HpaSource> external;
};

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

// Reads autoscaling/v2. kInvalidArgument when a field has another type than the API's.
absl::StatusOr<Hpa> DecodeV2(const Node& document);

// Reads autoscaling/v1: v1's defaults, the fields that v1 hides in annotations, and the metric that
// an object without any gets. Unreadable annotations are ignored. Errors as above.
absl::StatusOr<Hpa> DecodeV1(const Node& document);

// Fills the fields that an autoscaling/v2 object leaves open. An object without metrics gets one on
// cpu, unless it has triggers, which count as metrics.
void ApplyV2Defaults(Hpa& hpa, bool has_triggers = false);

// Makes the form that the replica math works on. `hpa` has its defaults and was found valid.
Autoscaler CompileHpa(const Hpa& hpa);

// The Resource metric on cpu at that percentage of the request.
HpaMetric CpuUtilizationMetric(int32_t percent);

inline constexpr int32_t kDefaultCpuUtilization = 80;

}  // namespace flyball::scaler
