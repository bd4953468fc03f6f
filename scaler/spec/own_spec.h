// The Autoscaler (CRD), which the code calls our own kind: its name, and the fields that the spec
// of a HorizontalPodAutoscaler does not have.
//
// Plain values. The OwnSpec of a HorizontalPodAutoscaler has only defaults, except for what its
// annotations set.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "scaler/spec/schedules.h"

namespace flyball::scaler {

// The definition's name is PLURAL.GROUP: autoscalers.flyball.dev.
inline constexpr absl::string_view kOwnGroup = "flyball.dev";
inline constexpr absl::string_view kOwnVersion = "v1alpha1";
inline constexpr absl::string_view kOwnPlural = "autoscalers";
inline constexpr absl::string_view kOwnKind = "Autoscaler";
inline constexpr absl::string_view kOwnApiVersion = "flyball.dev/v1alpha1";  // GROUP/VERSION

// The annotation of an autoscaler of either kind: "shadow", "advise" or "act".
inline constexpr absl::string_view kModeAnnotation = "flyball.dev/mode";

// The annotation of a HorizontalPodAutoscaler that sets how its pods are selected: `LabelSelector`
// or `OwnerReferences`.
inline constexpr absl::string_view kPodSelectionAnnotation = "flyball.dev/pod-selection";

// What is done with a decision: it is only compared, published as a metric, or carried out.
enum class Mode { kShadow, kAdvise, kAct };

// The name that annotations, flags and the status use.
inline const char* ModeName(Mode mode) {
  return mode == Mode::kAct ? "act" : mode == Mode::kAdvise ? "advise" : "shadow";
}

// When an autoscaler is decided.
struct Cadence {
  std::optional<absl::Duration> interval;  // at least 200 ms; absent: the loop's sync_period
  bool on_sample = false;                  // as soon as a reading changes
};

// The type of trigger that scales by requests.
inline constexpr absl::string_view kHttpTrigger = "http";

// A trigger as it is written. Its type defines the metadata (triggers/types).
struct TriggerSpec {
  std::string type;  // "cron", "prometheus", …
  std::string name;  // "" or unique
  std::map<std::string, std::string> metadata;
  std::string metric_type;  // "AverageValue" (also when absent) or "Value"
  // A value that is not in the spec but in a Secret of the same namespace, under this key.
  struct SecretKey {
    std::string secret;
    std::string key;
  };
  std::map<std::string, SecretKey> secrets;  // by parameter
};

// What is used while a reading is unknown.
struct Fallback {
  int32_t after_failures = 3;       // decisions in a row in which it was unknown
  std::optional<int32_t> replicas;  // absent: hold
};

// What one metric of the spec asks for while it is unknown.
struct MetricFallback {
  // For this time it asks for its last count, or for the current replicas if they are more; 0: not
  // at all.
  absl::Duration keep_last;
  int32_t after_failures = 3;  // without keep_last: number of decisions in a row without a value
  // What it asks for after keep_last, or after after_failures decisions.
  enum class Then { kFail, kReplicas, kMax, kMin };
  Then then = Then::kFail;
  int32_t replicas = 0;  // with kReplicas
  // Set if `then` was written as a value, in thousandths: `replicas` is what it asks for with the
  // present target.
  std::optional<int64_t> value_milli = {};
};

struct OwnSpec {
  std::optional<Mode> mode;  // absent: that of --scaler-mode
  Cadence cadence;
  std::vector<TriggerSpec> triggers;
  std::optional<Fallback> fallback;                             // for triggers
  std::vector<std::optional<MetricFallback>> metric_fallbacks;  // by metric; empty: none has one
  absl::Duration cooldown = absl::Minutes(5);  // from the last activity to zero replicas
  bool paused = false;
  // Of the pods that the target's selector selects, only those that the target owns count. A
  // HorizontalPodAutoscaler sets it by kPodSelectionAnnotation.
  bool owned_pods_only = false;
  Schedules schedules;  // a HorizontalPodAutoscaler has them in annotations
};

// Whether requests are carried to the target.
inline bool CarriesRequests(const OwnSpec& own) {
  return std::any_of(own.triggers.begin(), own.triggers.end(),
                     [](const TriggerSpec& trigger) { return trigger.type == kHttpTrigger; });
}

}  // namespace flyball::scaler
