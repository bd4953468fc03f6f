#include "serve/scaler_flags.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace flyball::serve {
namespace {

// Whether it is HOST:PORT. gRPC listens on the lowest 16 bits of a greater number.
bool HasPort(absl::string_view address) {
  const size_t colon = address.rfind(':');
  int port = -1;
  return colon != absl::string_view::npos && absl::SimpleAtoi(address.substr(colon + 1), &port) &&
         port >= 0 && port <= 65535;
}

void AddFrontFlags(GoFlags flags, ScalerFlags& f) {
  flags.String("front-listen", f.front_listen,
               "address and port for the Envoys that carry requests, as 0.0.0.0:18000: triggers of "
               "type http need it");
  flags.String(
      "front-pod-selector", f.front_pod_selector,
      "labels of the Envoys' pods, in the namespace of the leases: they become the "
      "endpoints of the Services that http triggers name; empty: no endpoints are written");
  flags.Int("front-hosts-port", f.front_hosts_port,
            "port where the Envoys listen for the hosts of http triggers, if any has hosts");
  flags.Bool("front-shared-hosts", f.front_shared_hosts,
             "several namespaces may have routes of one host; without it a host belongs to the "
             "namespace whose Autoscaler asked for it first");
  flags.String("front-cert-file", f.front_cert_file,
               "certificate (PEM) shown to these Envoys; without it there is no TLS");
  flags.String("front-key-file", f.front_key_file, "its key (PEM)");
  flags.String("front-ca-file", f.front_ca_file,
               "authorities (PEM) that the Envoys' certificates must be signed by");
  flags.String("front-peer-name", f.front_peer_name,
               "name that these certificates must have (default: any)");
}

// Named as those of the controller whose math it is.
void AddControllerFlags(GoFlags flags, ScalerFlags& f) {
  flags.String(
      "kubernetes-version", f.kubernetes_version,
      "whose HPA controller decisions are to equal: 1.34 to 1.37, or auto, which asks the "
      "API server, again every half minute, and sees that HPAScaleToZero is on where an HPA "
      "has the condition ScaledToZero; a cluster with an older or newer version is decided as the "
      "nearest of these; with --objects auto is 1.37");
  flags.String("feature-gates", f.feature_gates,
               "gates that are not at the version's default, by the controller's names: "
               "HPAScaleToZero=true,HPAGeneration=false");
  flags.Duration("horizontal-pod-autoscaler-sync-period", f.options.sync_period,
                 "how often an autoscaler without a cadence of its own is decided");
  flags.Float("horizontal-pod-autoscaler-tolerance", f.options.controller.tolerance,
              "how far from 1 a ratio may be without a change");
  flags.Duration("horizontal-pod-autoscaler-downscale-stabilization",
                 f.options.controller.downscale_stabilization,
                 "how long the highest recommendation holds");
  flags.Duration("horizontal-pod-autoscaler-cpu-initialization-period",
                 f.options.controller.cpu_initialization_period,
                 "how long after a pod's start its CPU samples may be skipped");
  flags.Duration("horizontal-pod-autoscaler-initial-readiness-delay",
                 f.options.controller.initial_readiness_delay,
                 "how long after a pod's start changes of its readiness count as initial");
}

}  // namespace

void AddScalerFlags(GoFlags flags, ScalerFlags& f) {
  flags.Bool("scaler", f.enabled, "also scale: decide HorizontalPodAutoscalers and Autoscalers");
  flags.String("scaler-mode", f.mode,
               "what is done with decisions: shadow (compared with the HPA controller's, nothing "
               "written), advise (published as external metrics) or act (the scale is written); "
               "the annotation flyball.dev/mode of an object, or else spec.mode of an Autoscaler, "
               "wins",
               "shadow|advise|act");
  flags.Bool("scaler-hpa", f.options.act_on_hpas,
             "in mode act, also act on HorizontalPodAutoscalers; the HPA controller must be off");
  flags.Bool("scaler-autoscaler-metrics", f.autoscaler_metrics,
             "show six gauges of each autoscaler's last decision at /metrics");
  flags.String("decision-log", f.decision_log,
               "file to which each decision that differs from the one before is written, one line "
               "of JSON each");
  flags.Int("decision-log-megabytes", f.decision_log_megabytes,
            "MiB after which that file is renamed to FILE.1, in place of an earlier FILE.1");
  flags.String("decision-log-otlp", f.decision_log_otlp,
               "OTLP/HTTP receiver (http://collector:4318) to which the same decisions are sent as "
               "logs; /v1/logs is added");
  flags.List("scaler-namespace", f.options.namespaces,
             "scale in these namespaces only; repeatable");
  flags.String("scaler-kubeconfig", f.kubeconfig,
               "kubeconfig of the scaler (default: as --lister-kubeconfig)");
  flags.Bool("scaler-leader-elect", f.leader_elect,
             "decide only autoscalers whose lease this replica holds; false: all of them, for a "
             "single replica");
  flags.Int("scaler-shards", f.election.shards,
            "into how many parts, by namespace, the work is split among the replicas; replicas "
            "with another number wait until those with this one have handed over; 1 is plain "
            "leader election");
  flags.String("scaler-lease-namespace", f.election.ns,
               "namespace of the leases and of the saved state (default: the pod's)");
  flags.Duration(
      "scaler-lease-duration", f.election.lease_duration,
      "how long others wait before they take the lease of a replica that does not renew it; with "
      "--front-listen this and the next two are 6s, 4s and 1s where none is given");
  flags.Duration("scaler-lease-renew-deadline", f.election.renew_deadline,
                 "how long after the last renewal a replica still writes");
  flags.Duration("scaler-lease-retry-period", f.election.retry_period,
                 "how often leases are renewed and checked");
  flags.List("scaler-trigger-allow-addresses", f.trigger_allow_addresses,
             "addresses and ranges (10.0.0.0/8) that triggers may ask although they are loopback, "
             "link-local, multicast or a cloud's metadata server");
  flags.String("scaler-trigger-secrets", f.trigger_secrets,
               "which Secrets triggers may use: all (that they name), or referenced (of these only "
               "the ones with the label flyball.dev/trigger-secret=true)",
               "all|referenced");
  AddFrontFlags(flags, f);
  flags.Duration("scaler-status-interval", f.options.status_interval,
                 "shortest time between two writes of a status in which only values have changed; "
                 "with 0 every status is written at once");
  flags.Float("scaler-write-qps", f.options.writes_per_second, "writes a second to the API server");
  flags.Int("scaler-write-burst", f.options.write_burst, "writes at once, after a pause");
  AddControllerFlags(flags, f);
}

void TakeFrontDefaults(ScalerFlags& f, absl::FunctionRef<bool(const std::string& name)> given) {
  if (f.front_listen.empty()) return;
  for (const char* const flag : {"--scaler-lease-duration", "--scaler-lease-renew-deadline",
                                 "--scaler-lease-retry-period"}) {
    if (given(flag)) return;
  }
  f.election.lease_duration = kFrontLeaseDuration;
  f.election.renew_deadline = kFrontRenewDeadline;
  f.election.retry_period = kFrontRetryPeriod;
}

absl::Status CheckScalerFlags(const ScalerFlags& f) {
  const absl::Status addresses = http::AddressRules::Parse(f.trigger_allow_addresses).status();
  RETURN_IF_ERROR(FirstRefused({
      {f.mode != "shadow" && f.mode != "advise" && f.mode != "act",
       absl::StrCat("--scaler-mode: expected shadow, advise or act, got \"", f.mode, "\"")},
      {f.options.act_on_hpas && f.mode != "act",
       absl::StrCat("--scaler-hpa is for --scaler-mode=act; the mode is ", f.mode)},
      {f.decision_log_megabytes < 1, "--decision-log-megabytes: expected 1 or more"},
      {f.options.sync_period <= absl::ZeroDuration(),
       "--horizontal-pod-autoscaler-sync-period: expected more than 0"},
      {f.options.status_interval < absl::ZeroDuration(),
       "--scaler-status-interval: expected 0 or more"},
      {!addresses.ok(), absl::StrCat("--scaler-trigger-allow-addresses: ", addresses.message())},
      {f.trigger_secrets != "all" && f.trigger_secrets != "referenced",
       absl::StrCat("--scaler-trigger-secrets: expected all or referenced, got \"",
                    f.trigger_secrets, "\"")},
      {!(f.options.writes_per_second > 0), "--scaler-write-qps: expected more than 0"},
      {f.options.write_burst < 1, "--scaler-write-burst: expected 1 or more"},
      {!f.leader_elect && f.election.shards != 1,
       "--scaler-shards splits the work by leases: not with --scaler-leader-elect=false"},
      {!f.front_listen.empty() && !HasPort(f.front_listen),
       absl::StrCat("--front-listen: expected an address and a port, as 0.0.0.0:18000, got \"",
                    f.front_listen, "\"")},
      {!f.front_listen.empty() && f.election.shards != 1,
       "--front-listen: Envoys are told by one replica, so --scaler-shards has to be 1"},
      {f.front_hosts_port < 1 || f.front_hosts_port > 65535 ||
           (f.front_hosts_port >= 20000 && f.front_hosts_port < 40000),
       "--front-hosts-port: expected a port that is none of services, which are 20000 to 39999"},
      {f.front_listen.empty() &&
           !(f.front_cert_file + f.front_key_file + f.front_ca_file + f.front_peer_name).empty(),
       "--front-cert-file and the like are for --front-listen"},
      {f.front_cert_file.empty() != f.front_key_file.empty() ||
           f.front_cert_file.empty() != f.front_ca_file.empty(),
       "--front-cert-file, --front-key-file and --front-ca-file: TLS goes both ways and needs all"},
  }));
  RETURN_IF_ERROR(scaler::ParseDialectChoice(f.kubernetes_version, f.feature_gates).status());
  return scaler::CheckElection(f.election);
}

scaler::ScalerOptions ScalerOptionsFrom(const ScalerFlags& f) {
  scaler::ScalerOptions options = f.options;
  options.mode = f.mode == "act"      ? scaler::Mode::kAct
                 : f.mode == "advise" ? scaler::Mode::kAdvise
                                      : scaler::Mode::kShadow;
  options.namespaces.clear();
  for (const std::string& ns : f.options.namespaces) {  // one named twice would be watched twice
    if (!absl::c_linear_search(options.namespaces, ns)) options.namespaces.push_back(ns);
  }
  options.dialect = scaler::ParseDialectChoice(f.kubernetes_version, f.feature_gates)
                        .value_or(scaler::DialectChoice());
  options.trigger_addresses =
      http::AddressRules::Parse(f.trigger_allow_addresses).value_or(http::AddressRules());
  options.trigger_secrets = f.trigger_secrets == "referenced" ? scaler::TriggerSecrets::kReferenced
                                                              : scaler::TriggerSecrets::kAll;
  // A write has to end before another replica may begin one. A part of the margin is for what
  // happens around the call: the fence is asked before it.
  if (f.leader_elect) {
    options.request_timeout = std::min(options.request_timeout, f.election.WriteMargin() * 0.8);
  }
  return options;
}

}  // namespace flyball::serve
