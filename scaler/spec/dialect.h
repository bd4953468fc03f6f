// Dialect: which HPA controller and API server decisions and admission are to equal, as a version
// of Kubernetes with its feature gates.
//
// Plain values; pure. What a dialect means to the math is in math/math_config.h, what it means to
// admission in hpa/admission.h; nothing else looks at a version.
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

// Versions are of major 1. An older or newer one counts as the nearest of these.
inline constexpr int kOldestMinor = 34;
inline constexpr int kNewestMinor = 37;

// The gates that matter, with their defaults in 1.34.
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

// What a server says it is. Its gates are those of the version that it emulates, which is mostly
// its own.
struct ServerVersion {
  int minor = kOldestMinor;
  std::optional<int> emulated_minor;

  friend bool operator==(const ServerVersion&, const ServerVersion&) = default;
};
// What a server is taken for that does not tell.
inline constexpr ServerVersion kNewestServer = {.minor = kNewestMinor, .emulated_minor = {}};

// Which gates are set, by the controller's name.
using GateSettings = std::map<std::string, bool>;

// What --kubernetes-version and --feature-gates ask for.
struct DialectChoice {
  std::optional<int> minor;  // absent: that of the cluster
  GateSettings gates;
  // Names of gates that were set and are others than those above: what the controller is started
  // with may be given as it is.
  std::vector<std::string> other_gates = {};
};

// Reads "auto", "1.34" … "1.37", and "Name=true,Other=false".
//   kInvalidArgument  neither; a gate HPA… that is not known; AllAlpha and AllBeta, which would set
//                     gates without their names; where the version is given, a gate that this
//                     version does not have or has locked to the other value
absl::StatusOr<DialectChoice> ParseDialectChoice(absl::string_view version,
                                                 absl::string_view gates);

// The dialect of a server. Gates that are not set have the version's defaults. Settings of gates
// that the version does not have, or has locked, do not count: the version may have been found out
// long after they were given.
Dialect DialectOf(const ServerVersion& server, const GateSettings& gates);

// The dialect that is asked for; `seen` is that of the cluster, where it is left to it.
Dialect DialectOf(const DialectChoice& choice, const ServerVersion& seen);

// "1.37", and what differs from its defaults: "1.37 with HPAScaleToZero=false".
std::string DialectText(const Dialect& dialect);

// Reads the answer of GET /version.
//   kInvalidArgument  it is no such answer, or of another major version than 1
absl::StatusOr<ServerVersion> ParseServerVersion(absl::string_view json);

}  // namespace flyball::scaler
