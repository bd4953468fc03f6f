// The flags of `flyball serve` for the scaler.
//
// Pure. A flag that equals an option of the loop or of the election is read into that option. Flags
// that kube-controller-manager has too have its names and defaults.
#pragma once

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "scaler/loop/scaler.h"
#include "scaler/shards/election.h"
#include "serve/go_flags.h"

namespace flyball::serve {

struct ScalerFlags {
  bool enabled = false;
  std::string kubeconfig;  // empty: that of the objects

  bool autoscaler_metrics = false;
  std::string decision_log;  // a file; "": none
  int decision_log_megabytes = 64;
  std::string decision_log_otlp;  // a receiver of OpenTelemetry logs; "": none

  bool leader_elect = true;
  scaler::ElectionOptions election;  // `ns` "": the pod's namespace; the identity is not set here

  // The address that Envoys connect to; "": this process carries no requests.
  std::string front_listen;
  std::string front_pod_selector;
  int front_hosts_port = 8080;
  bool front_shared_hosts = false;
  std::string front_cert_file, front_key_file, front_ca_file, front_peer_name;

  // ScalerOptionsFrom adds these five to `options`.
  std::string mode = "shadow";  // "shadow", "advise" or "act"
  std::vector<std::string> trigger_allow_addresses;
  std::string trigger_secrets = "all";  // or "referenced"
  std::string kubernetes_version = "auto";
  std::string feature_gates;
  scaler::ScalerOptions options;
};

// The times of the election if there is a front and no flag sets others: requests wait for the
// replica that takes over, which should happen within 10 s.
inline constexpr absl::Duration kFrontLeaseDuration = absl::Seconds(6);
inline constexpr absl::Duration kFrontRenewDeadline = absl::Seconds(4);
inline constexpr absl::Duration kFrontRetryPeriod = absl::Seconds(1);

void AddScalerFlags(GoFlags flags, ScalerFlags& f);
// To be called after parsing. `given`: whether the flag of that name was given.
void TakeFrontDefaults(ScalerFlags& f, absl::FunctionRef<bool(const std::string& name)> given);

// kFailedPrecondition, kInvalidArgument: the flag and what is wrong.
absl::Status CheckScalerFlags(const ScalerFlags& f);

// The options of the loop, from flags that CheckScalerFlags has accepted. The time limit for a
// request to the API server is at most the election's WriteMargin.
scaler::ScalerOptions ScalerOptionsFrom(const ScalerFlags& f);

}  // namespace flyball::serve
