// Autoscaler: the neutral form of a HorizontalPodAutoscaler that the replica math decides on.
//
// Plain values, filled by a parser (hpa/admission.h, own/parser.h) and never changed afterwards;
// safe to share between threads. API defaults are already applied: the math meets no field that a
// default could still fill, except the two that upstream leaves open (min_replicas of an object
// that code made, and the scale-down window).
//
// Units:   replicas are int32; quantities are kept exactly and, where the math needs a number, as
//          int64 thousandths beside it (kube/objects/quantity.h says how they round and wrap).
// Source:  k8s.io/api v0.34.4 and v0.37.1 autoscaling/v2.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "kube/objects/label_selector.h"
#include "kube/objects/quantity.h"

namespace flyball::scaler {

// A reference to an object of any kind, in the autoscaler's namespace.
struct ObjectReference {
  std::string api_version;  // "apps/v1", "v1" or ""
  std::string kind;
  std::string name;

  friend bool operator==(const ObjectReference&, const ObjectReference&) = default;
};

using LabelSelector = kube::LabelSelector;

// Which metric: its name and the selector over its series. Make one with MakeMetricIdentifier.
struct MetricIdentifier {
  std::string name;
  std::optional<LabelSelector> selector;  // absent and empty select the same, but print differently

  // Derived from `selector`.
  std::string selector_text;   // canonical (`az=a,tier in (bronze,gold)`); "" when absent or empty
  std::string selector_error;  // upstream's text if the selector does not compile, else ""
  std::string selector_go;     // as Go prints the pointer: `nil` or `&LabelSelector{…}`

  friend bool operator==(const MetricIdentifier&, const MetricIdentifier&) = default;
};

MetricIdentifier MakeMetricIdentifier(std::string name, std::optional<LabelSelector> selector);

// A quantity, and the number that the math uses for it.
struct TargetAmount {
  kube::Quantity quantity;
  int64_t milli = 0;  // quantity.MilliValue()
};

TargetAmount MakeTargetAmount(const kube::Quantity& quantity);

// The largest amount of a reading, and of a target of an Autoscaler (CRD), in thousandths. Larger
// ones may not fit an int64, and the math would take them for 0 or for other numbers.
inline constexpr int64_t kMaxMetricMilli = 9'000'000'000'000'000'000;

// Whether an amount is beyond ± that limit.
inline constexpr bool IsBeyond(int64_t milli) {
  return milli > kMaxMetricMilli || milli < -kMaxMetricMilli;
}
bool IsBeyond(const kube::Quantity& amount);

enum class TargetType { kUtilization, kValue, kAverageValue, kOther };

// A target may have any of the values below, whatever its type says. Like upstream, the math looks
// at the type of Object metrics only, and otherwise at which values are present.
struct MetricTarget {
  TargetType type = TargetType::kUtilization;
  std::optional<TargetAmount> value;
  std::optional<TargetAmount> average_value;
  std::optional<int32_t> average_utilization;  // percent of the request
};

enum class MetricType { kResource, kContainerResource, kPods, kObject, kExternal, kUnknown };

struct MetricSpec {
  MetricType type = MetricType::kUnknown;
  std::string type_text;             // as written: "Resource", …
  std::string resource;              // Resource, ContainerResource: "cpu"
  std::string container;             // ContainerResource
  MetricIdentifier metric;           // Pods, Object, External
  ObjectReference described_object;  // Object
  MetricTarget target;
  // The reading is a count of replicas that was already decided, so that no tolerance holds it
  // back. Never set for an HPA.
  bool exact = false;
};

// "Resource", "ContainerResource", "Pods", "Object", "External"; "" for kUnknown.
absl::string_view MetricTypeName(MetricType type);

enum class PolicyType { kPods, kPercent, kOther };
enum class SelectPolicy { kMax, kMin, kDisabled };

struct ScalingPolicy {
  PolicyType type = PolicyType::kPods;
  int32_t value = 0;
  int32_t period_seconds = 0;
};

// How far from the target a metric may be without a change of the count.
struct RuleTolerance {
  kube::Quantity quantity;
  double ratio = 0;  // as upstream reads it: "0.7" is stored as 700m and becomes 700 * 0.001
};

RuleTolerance MakeRuleTolerance(const kube::Quantity& quantity);

struct ScalingRules {
  std::optional<int32_t> stabilization_window_seconds;  // absent (down only): that of a flag
  SelectPolicy select_policy = SelectPolicy::kMax;
  std::vector<ScalingPolicy> policies;
  std::optional<RuleTolerance> tolerance;
};

struct Behavior {
  ScalingRules scale_up;
  ScalingRules scale_down;
};

enum class ConditionStatus { kTrue, kFalse, kUnknown };

// As the API writes it.
inline const char* ConditionStatusName(ConditionStatus status) {
  return status == ConditionStatus::kTrue    ? "True"
         : status == ConditionStatus::kFalse ? "False"
                                             : "Unknown";
}

// kUnknown for any word but "True" and "False".
inline ConditionStatus ConditionStatusOf(absl::string_view word) {
  return word == "True"    ? ConditionStatus::kTrue
         : word == "False" ? ConditionStatus::kFalse
                           : ConditionStatus::kUnknown;
}

struct Condition {
  std::string type;  // "AbleToScale", "ScalingActive", "ScalingLimited", "ScaledToZero"
  ConditionStatus status = ConditionStatus::kUnknown;
  std::string reason;
  std::string message;
  std::optional<absl::Time> last_transition_time;
  std::optional<int64_t> observed_generation;  // kept as found; Flyball never sets it

  friend bool operator==(const Condition&, const Condition&) = default;
};

// The last value of a metric. A default-made one (type kUnknown, type_text "") is the empty entry
// that upstream leaves in the status for a metric that failed.
struct MetricStatus {
  MetricType type = MetricType::kUnknown;
  std::string type_text;
  std::string resource;
  std::string container;
  std::string metric_name;
  std::optional<LabelSelector> metric_selector;
  ObjectReference described_object;
  std::optional<kube::Quantity> value;
  std::optional<kube::Quantity> average_value;
  std::optional<int32_t> average_utilization;

  friend bool operator==(const MetricStatus&, const MetricStatus&) = default;
};

struct AutoscalerStatus {
  std::optional<int64_t> observed_generation;
  std::optional<absl::Time> last_scale_time;
  int32_t current_replicas = 0;
  int32_t desired_replicas = 0;
  std::vector<MetricStatus> current_metrics;
  std::vector<Condition> conditions;

  friend bool operator==(const AutoscalerStatus&, const AutoscalerStatus&) = default;
};

// Whether the API would call both equal: it compares quantities by value, and takes an empty list
// for an absent one.
inline bool SemanticallyEqual(const AutoscalerStatus& a, const AutoscalerStatus& b) {
  return a == b;
}

struct Autoscaler {
  std::string ns;
  std::string name;
  std::string uid;
  std::string resource_version;
  int64_t generation = 0;
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;  // without those that carry fields of v2 in v1

  ObjectReference scale_target;
  std::optional<int32_t> min_replicas;  // absent is 1
  int32_t max_replicas = 0;
  std::vector<MetricSpec> metrics;
  std::optional<Behavior> behavior;
  bool pending_capacity = false;  // math/pending_capacity.h; never set for an HPA

  AutoscalerStatus status;  // as stored

  int32_t min_or_default() const { return min_replicas.value_or(1); }
};

}  // namespace flyball::scaler
