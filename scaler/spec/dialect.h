// Dialect: a version of Kubernetes with its feature gates. Decisions equal those of its HPA
// controller, admission equals that of its API server.
//
// Plain values; pure. math/math_config.h says what a dialect changes in the math, hpa/admission.h
// what it changes in admission; nothing else looks at a version.
//
// Source:  Kubernetes v1.34.4, v1.35.4, v1.36.3, v1.37.1 pkg/features/kube_features.go.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace flyball::scaler {

// Minor versions of Kubernetes 1. An older or newer one counts as the nearest of these.
inline constexpr int kOldestMinor = 34;
inline constexpr int kNewestMinor = 37;

// The gates that change decisions or admission, with their defaults in 1.34.
struct FeatureGates {
  bool configurable_tolerance = false;       // HPAConfigurableTolerance
  bool scale_to_zero = false;                // HPAScaleToZero
  bool generation = false;                   // HPAGeneration
  bool optimized_selector_store = false;     // HPAOptimizedSelectorStore
  bool pod_level_resources = true;           // PodLevelResources
  bool declarative_validation_beta = false;  // DeclarativeValidationBeta

  friend bool operator==(const FeatureGates&, const FeatureGates&) = default;
};

struct Dialect {
  int minor = kOldestMinor;
  FeatureGates gates;

  friend bool operator==(const Dialect&, const Dialect&) = default;
};

// The version that a server reports. Its gates are those of the version that it emulates, which is
// its own if it reports none.
struct ServerVersion {
  int minor = kOldestMinor;
  std::optional<int> emulated_minor;

  friend bool operator==(const ServerVersion&, const ServerVersion&) = default;
};
// The version that is assumed of a server that does not report its version.
inline constexpr ServerVersion kNewestServer = {.minor = kNewestMinor, .emulated_minor = {}};

// The gates that are set, by the names that the controller's --feature-gates takes.
using GateSettings = std::map<std::string, bool>;

// What --kubernetes-version and --feature-gates ask for.
struct DialectChoice {
  std::optional<int> minor;  // absent: that of the cluster
  GateSettings gates;
  // Names of gates that were set and are not among FeatureGates: the flag takes the controller's
  // own --feature-gates unchanged, which may name gates of other parts of Kubernetes.
  std::vector<std::string> other_gates = {};
};

// Reads "auto", "1.34" … "1.37", and "Name=true,Other=false".
//   kInvalidArgument  the text has another form; the name of a gate begins with HPA and is not
//                     known; AllAlpha or AllBeta, which would set gates without naming them; the
//                     version is given and does not have the gate, or has locked it to the other
//                     value
absl::StatusOr<DialectChoice> ParseDialectChoice(absl::string_view version,
                                                 absl::string_view gates);

// The dialect of a server. Gates that are not set have the version's defaults. Settings of gates
// that the version does not have, or has locked, are ignored: the version may become known long
// after they were given, when it is too late to refuse them.
Dialect DialectOf(const ServerVersion& server, const GateSettings& gates);

// The dialect of the choice; `seen` counts if the choice names no version.
Dialect DialectOf(const DialectChoice& choice, const ServerVersion& seen);

// "1.37", and what differs from its defaults: "1.37 with HPAScaleToZero=false".
std::string DialectText(const Dialect& dialect);

// Reads the answer of GET /version.
//   kInvalidArgument  it is no such answer, or its major version is not 1
absl::StatusOr<ServerVersion> ParseServerVersion(absl::string_view json);

}  // namespace flyball::scaler
