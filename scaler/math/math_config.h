// MathConfig: the settings of the controller whose decisions the replica math reproduces.
//
// Plain values; pure. Each difference between versions and feature gates is one flag here; the math
// knows no versions. MathConfigOf is the one place that turns a dialect into flags: the running
// scaler, `decide` on files and the replayed vectors all use it.
#pragma once

#include "absl/time/time.h"
#include "kube/objects/label_syntax.h"
#include "scaler/math/pods.h"
#include "scaler/spec/dialect.h"

namespace flyball::scaler {

// The controller's flags, with its defaults.
struct ControllerFlags {
  double tolerance = 0.1;
  absl::Duration downscale_stabilization = absl::Minutes(5);
  absl::Duration cpu_initialization_period = absl::Minutes(5);
  absl::Duration initial_readiness_delay = absl::Seconds(30);

  friend bool operator==(const ControllerFlags&, const ControllerFlags&) = default;
};

// How many of the autoscalers that share a pod the error names, and in which words.
enum class RivalsText { kMultiple, kTwoForExample, kAllForExample };

// The defaults are those of 1.34.
struct MathConfig : ControllerFlags {
  // A tolerance in a behavior counts.
  bool configurable_tolerance = false;
  // The sum of a Value target's series stops at the largest int64, and its count at the largest
  // int32; without, both wrap.
  bool saturates = false;
  // A target leaves zero replicas only if the condition ScaledToZero in the stored status says that
  // the controller scaled it to zero; without, whenever minReplicas is 0.
  bool wakes_by_condition = false;
  // The condition ScaledToZero counts and is written; without this, but with wakes_by_condition, it
  // is removed.
  bool scaled_to_zero_condition = false;
  // The status says which generation it describes; without, that field is lost.
  bool observes_generation = false;
  // A new autoscaler is decided at once, and with observes_generation an edited one as well;
  // without, they wait for their next period.
  bool decides_news_at_once = false;
  // An autoscaler that was deleted meanwhile is not decided any more.
  bool stops_when_deleted = false;
  // A metric of an unknown type labels the whole reconcile as a failure of the spec; without, only
  // the metric.
  bool spec_fault_labels_reconcile = false;
  // The error of an Object metric names the object between metric and cause; without, the arguments
  // in the text are shifted by one, which is an error of upstream.
  bool names_described_object = false;
  RivalsText rivals_text = RivalsText::kMultiple;
  kube::LabelRules labels = kube::LabelRules::k1_34;
  RequestRules requests;

  friend bool operator==(const MathConfig&, const MathConfig&) = default;
};

MathConfig MathConfigOf(const ControllerFlags& flags, const Dialect& dialect);

// Does the same for an Autoscaler (CRD). The cluster's feature gates do not change what the API
// server stores of it, and its targets enter and leave zero by other rules.
MathConfig ForOwnKind(MathConfig config);

}  // namespace flyball::scaler
