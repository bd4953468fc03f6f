#include "serve/scaler_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace flyball::serve {
namespace {

absl::Status Refused(const std::string& message) { return absl::FailedPreconditionError(message); }

}  // namespace

void AddScalerFlags(GoFlags flags, ScalerFlags& f) {
  flags.Bool("scaler", f.enabled, "also scale: decide HorizontalPodAutoscalers and Autoscalers");
  flags.String("scaler-mode", f.mode,
               "what is done with decisions: shadow (compared with the stock controller's, nothing "
               "written), advise (published as external metrics) or act (the scale is written); "
               "the annotation flyball.dev/mode of an object wins");
  flags.Bool("scaler-hpa", f.hpa,
             "in mode act HorizontalPodAutoscalers too are acted on: only where the stock "
             "controller is off");
  flags.List("scaler-namespace", f.namespaces, "scale in these namespaces only; repeatable");
  flags.String("scaler-kubeconfig", f.kubeconfig,
               "kubeconfig of the scaler (default: as --lister-kubeconfig)");
  flags.Bool("scaler-leader-elect", f.leader_elect,
             "decide what this replica holds the leases of; false: everything, for a single "
             "replica (default true)");
  flags.Int("scaler-shards", f.shards,
            "into how many parts, by namespace, the work is split among the replicas; replicas "
            "with another number wait until those with this one have handed over; 1 is plain "
            "leader election");
  flags.String("scaler-lease-namespace", f.lease_namespace,
               "namespace of the leases and of what is remembered (default: the pod's)");
  flags.Duration("scaler-lease-duration", f.lease_duration,
                 "how long others wait for a replica that does not renew its lease");
  flags.Duration("scaler-lease-renew-deadline", f.lease_renew_deadline,
                 "how long after the last renewal a replica still writes");
  flags.Duration("scaler-lease-retry-period", f.lease_retry_period,
                 "how often leases are renewed and looked at");
  flags.List("scaler-trigger-allow-addresses", f.trigger_allow_addresses,
             "addresses and ranges (10.0.0.0/8) that triggers may ask although they are loopback, "
             "link-local, multicast or a cloud's metadata server");
  flags.String("scaler-trigger-secrets", f.trigger_secrets,
               "which Secrets triggers may use: all that they name, or referenced, those of them "
               "with the label flyball.dev/trigger-secret=true");
  flags.Duration(
      "scaler-status-interval", f.status_interval,
      "how often a status that tells nothing new is written at most; with 0 every status is "
      "written, and at once");
  flags.Float("scaler-write-qps", f.write_qps, "writes a second to the API server");
  flags.Int("scaler-write-burst", f.write_burst, "writes at once, after a pause");
  flags.Duration("horizontal-pod-autoscaler-sync-period", f.sync_period,
                 "how often an autoscaler without a cadence of its own is decided");
  flags.Float("horizontal-pod-autoscaler-tolerance", f.tolerance,
              "how far from 1 a ratio may be without a change");
  flags.Duration("horizontal-pod-autoscaler-downscale-stabilization", f.downscale_stabilization,
                 "how long the highest recommendation holds");
  flags.Duration("horizontal-pod-autoscaler-cpu-initialization-period", f.cpu_initialization_period,
                 "how long after a pod's start its CPU samples may be skipped");
  flags.Duration("horizontal-pod-autoscaler-initial-readiness-delay", f.initial_readiness_delay,
                 "how long after a pod's start changes of its readiness count as initial");
}

std::vector<std::string> ScalerFlagNames() {
  CLI::App app;
  ScalerFlags unused;
  AddScalerFlags(GoFlags(app), unused);
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    if (name != "--scaler" && name != "--help" && name != "-h,--help") names.push_back(name);
  }
  return names;
}

absl::Status CheckScalerFlags(const ScalerFlags& f) {
  if (f.mode != "shadow" && f.mode != "advise" && f.mode != "act") {
    return Refused(
        absl::StrCat("--scaler-mode: expected shadow, advise or act, got \"", f.mode, "\""));
  }
  if (f.hpa && f.mode != "act") {
    return Refused(absl::StrCat("--scaler-hpa is for --scaler-mode=act; the mode is ", f.mode));
  }
  if (f.sync_period <= absl::ZeroDuration()) {
    return Refused("--horizontal-pod-autoscaler-sync-period: expected more than 0");
  }
  if (f.status_interval < absl::ZeroDuration()) {
    return Refused("--scaler-status-interval: expected 0 or more");
  }
  if (const auto rules = http::AddressRules::Parse(f.trigger_allow_addresses); !rules.ok()) {
    return Refused(absl::StrCat("--scaler-trigger-allow-addresses: ", rules.status().message()));
  }
  if (f.trigger_secrets != "all" && f.trigger_secrets != "referenced") {
    return Refused(absl::StrCat("--scaler-trigger-secrets: expected all or referenced, got \"",
                                f.trigger_secrets, "\""));
  }
  if (!(f.write_qps > 0)) return Refused("--scaler-write-qps: expected more than 0");
  if (f.write_burst < 1) return Refused("--scaler-write-burst: expected 1 or more");
  if (!f.leader_elect && f.shards != 1) {
    return Refused(
        "--scaler-shards splits the work by leases: not with --scaler-leader-elect=false");
  }
  return scaler::CheckElection(ElectionOptionsFrom(f, "", ""));
}

absl::Duration WriteTimeout(const ScalerFlags& f) {
  constexpr absl::Duration kUsual = absl::Seconds(5);
  if (!f.leader_elect) return kUsual;
  // A part of the margin is for what happens around the call: the fence is asked before it.
  return std::min(kUsual, ElectionOptionsFrom(f, "", "").WriteMargin() * 0.8);
}

scaler::ScalerOptions ScalerOptionsFrom(const ScalerFlags& f) {
  scaler::ScalerOptions options;
  options.mode = f.mode == "act"      ? scaler::Mode::kAct
                 : f.mode == "advise" ? scaler::Mode::kAdvise
                                      : scaler::Mode::kShadow;
  options.act_on_hpas = f.hpa;
  options.namespaces = f.namespaces;
  options.sync_period = f.sync_period;
  options.status_interval = f.status_interval;
  options.math.tolerance = f.tolerance;
  options.math.downscale_stabilization = f.downscale_stabilization;
  options.math.cpu_initialization_period = f.cpu_initialization_period;
  options.math.initial_readiness_delay = f.initial_readiness_delay;
  // Checked before.
  options.trigger_addresses =
      http::AddressRules::Parse(f.trigger_allow_addresses).value_or(http::AddressRules());
  options.trigger_secrets = f.trigger_secrets == "referenced" ? scaler::TriggerSecrets::kReferenced
                                                              : scaler::TriggerSecrets::kAll;
  options.writes_per_second = f.write_qps;
  options.write_burst = f.write_burst;
  options.request_timeout = WriteTimeout(f);
  return options;
}

scaler::ElectionOptions ElectionOptionsFrom(const ScalerFlags& f, std::string ns,
                                            std::string identity) {
  scaler::ElectionOptions options;
  options.ns = std::move(ns);
  options.identity = std::move(identity);
  options.shards = f.shards;
  options.lease_duration = f.lease_duration;
  options.renew_deadline = f.lease_renew_deadline;
  options.retry_period = f.lease_retry_period;
  return options;
}

}  // namespace flyball::serve
