// What an Autoscaler of flyball.dev says beyond a HorizontalPodAutoscaler's spec.
//
// Plain values; the defaults are those of a HorizontalPodAutoscaler, which says none of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace flyball::scaler {

// What is done with a decision.
enum class Mode { kShadow, kAdvise, kAct };

// When an autoscaler is decided.
struct Cadence {
  std::optional<absl::Duration> interval;  // at least 200 ms; absent: the flag's
  bool on_sample = false;                  // as soon as a reading changes
};

// The types of triggers there are.
inline constexpr absl::string_view kTriggerTypes[] = {
    "cron", "external", "external-push", "kubernetes-workload", "metrics-api", "prometheus"};

// A trigger as written; what its metadata mean is for its type to say (triggers/trigger.h).
struct TriggerSpec {
  std::string type;  // "cron", "prometheus", …
  std::string name;  // "" or unique
  std::map<std::string, std::string> metadata;
  std::string metric_type;  // "AverageValue" (also when absent) or "Value"
  // Values that do not stand in the spec: parameter -> key of a Secret in the same namespace.
  struct SecretKey {
    std::string secret;
    std::string key;
  };
  std::map<std::string, SecretKey> secrets;
};

// What counts while a reading is unknown.
struct Fallback {
  int32_t after_failures = 3;       // decisions in a row in which it was unknown
  std::optional<int32_t> replicas;  // absent: hold
};

struct OwnSpec {
  std::optional<Mode> mode;  // absent: the flag's
  Cadence cadence;
  std::vector<TriggerSpec> triggers;
  std::optional<Fallback> fallback;
  absl::Duration cooldown = absl::Minutes(5);  // from the last activity to zero replicas
  bool paused = false;
};

}  // namespace flyball::scaler
