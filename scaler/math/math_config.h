// MathConfig: what the replica math is told of the controller that it is to equal.
//
// Plain values; pure. Each difference between versions and feature gates is one flag here; the math
// knows no versions. MathConfigOf is the one place that makes flags of a dialect: what serves, what
// decides files and what replays vectors all get theirs from it.
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

// How many of the autoscalers that share a pod the refusal names, and in which words.
enum class RivalsText { kMultiple, kTwoForExample, kAllForExample };

// The defaults are those of 1.34.
struct MathConfig : ControllerFlags {
  // A tolerance that a behavior states counts.
  bool configurable_tolerance = false;
  // The sum of a Value target's series stops at the largest int64, and its count at the largest
  // int32; without, both wrap.
  bool saturates = false;
  // Zero is left only where the stored status says, by the condition ScaledToZero, that the
  // controller entered it; without, wherever minReplicas is 0.
  bool wakes_by_condition = false;
  // The condition ScaledToZero is believed and written; without, and with wakes_by_condition, it is
  // removed.
  bool scaled_to_zero_condition = false;
  // The status says which generation it is of; without, it loses what it said.
  bool observes_generation = false;
  // A new autoscaler is decided at once, and with observes_generation an edited one; without, they
  // wait for their time.
  bool decides_news_at_once = false;
  // An autoscaler that was deleted meanwhile is not decided any more.
  bool stops_when_deleted = false;
  // A metric of no known type labels the whole reconcile as failed by its spec; without, the
  // metric alone.
  bool spec_fault_labels_reconcile = false;
  // The error of an Object metric names the object between metric and cause; without, its parts
  // are shifted by one.
  bool names_described_object = false;
  RivalsText rivals_text = RivalsText::kMultiple;
  kube::LabelRules labels = kube::LabelRules::k1_34;
  RequestRules requests;

  friend bool operator==(const MathConfig&, const MathConfig&) = default;
};

MathConfig MathConfigOf(const ControllerFlags& flags, const Dialect& dialect);

// The same for an autoscaler of our own kind. The cluster's gates do not bear on what its API
// server stores of it, and its targets enter and leave zero in their own way.
MathConfig ForOwnKind(MathConfig config);

}  // namespace flyball::scaler
