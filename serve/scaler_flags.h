// The flags of `flyball serve` that are about the scaler, and the options of its parts.
//
// Pure. Flags that kube-controller-manager 1.34.4 has are called as there, with its defaults.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "scaler/loop/scaler.h"
#include "scaler/shards/election.h"
#include "serve/go_flags.h"

namespace flyball::serve {

struct ScalerFlags {
  bool enabled = false;
  std::string mode = "shadow";  // "shadow", "advise" or "act"
  bool hpa = false;
  std::vector<std::string> namespaces;  // empty: all
  std::string kubeconfig;               // empty: as for objects

  // The election.
  bool leader_elect = true;
  int shards = 1;
  std::string lease_namespace;  // empty: the pod's
  absl::Duration lease_duration = absl::Seconds(15);
  absl::Duration lease_renew_deadline = absl::Seconds(10);
  absl::Duration lease_retry_period = absl::Seconds(2);

  std::vector<std::string> trigger_allow_addresses;
  std::string trigger_secrets = "all";  // or "referenced"

  absl::Duration status_interval = absl::Seconds(15);
  double write_qps = 500;
  int write_burst = 1000;

  // horizontal-pod-autoscaler-…
  absl::Duration sync_period = absl::Seconds(15);
  double tolerance = 0.1;
  absl::Duration downscale_stabilization = absl::Minutes(5);
  absl::Duration cpu_initialization_period = absl::Minutes(5);
  absl::Duration initial_readiness_delay = absl::Seconds(30);
};

void AddScalerFlags(GoFlags flags, ScalerFlags& f);

// The names of all of them but --scaler, with dashes.
std::vector<std::string> ScalerFlagNames();

// kFailedPrecondition, kInvalidArgument: the flag and what is wrong.
absl::Status CheckScalerFlags(const ScalerFlags& f);

// What one request to the API server may take: a write must have ended when another replica may
// begin, hence less than the election's WriteMargin.
absl::Duration WriteTimeout(const ScalerFlags& f);
scaler::ScalerOptions ScalerOptionsFrom(const ScalerFlags& f);
// `ns`: where the Leases are; `identity`: of this process.
scaler::ElectionOptions ElectionOptionsFrom(const ScalerFlags& f, std::string ns,
                                            std::string identity);

}  // namespace flyball::serve
