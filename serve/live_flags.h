// The flags of `flyball serve` for the live source: samples in this process's memory.
//
// Pure. A flag that equals an option of a library below is read into that option.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "adapter/live/api/query_pages.h"
#include "adapter/live/live.h"
#include "adapter/live/receive/otlp_receiver.h"
#include "adapter/live/receive/push_pages.h"
#include "adapter/live/store/store_options.h"
#include "promql/engine/engine.h"
#include "serve/go_flags.h"

namespace flyball::serve {

struct LiveFlags {
  std::string metric_source = "prometheus";  // or "live" or "prometheus+live"
  bool live() const { return metric_source != "prometheus"; }
  bool prometheus() const { return metric_source != "live"; }

  std::string scrape_config;        // a file as prometheus.yml
  absl::Duration scrape_annotated;  // pods with the annotation prometheus.io/scrape; 0: off
  absl::Duration scrape_kubelets;   // each node's /metrics/resource, for metrics.k8s.io; 0: off
  std::string kubelet_ca_file;      // "": the CA of the cluster
  bool kubelet_insecure_tls = false;
  bool push = true;  // whether pushed samples are accepted
  // Attributes of OTLP resources that become labels of each of their series.
  std::vector<std::string> promoted_attributes;
  std::vector<std::string> keep;  // series to keep in addition to those of the rules
  bool warm_start = true;         // from Prometheus, where one is given
  bool prometheus_given = false;  // --prometheus-url is among the flags
  // Whether Prometheus is asked for past samples.
  bool warms() const { return live() && warm_start && (prometheus() || prometheus_given); }
  std::string snapshot;             // file from which a restart continues; "": none
  int max_request_bytes = 3 << 20;  // of a body as sent: with its head less than 4 MiB
  int max_request_unpacked_bytes = 32 << 20;
  int max_query_bytes = 80 << 20;

  // Of the store and its queries.
  absl::Duration retention = absl::Minutes(10);
  absl::Duration out_of_order = absl::Seconds(10);
  int max_series = 1'000'000;
  int max_bytes = 256 << 20;  // of the 512 MiB that the chart gives the process
  std::string dialect = "3";
  absl::Duration lookback = absl::Minutes(5);
  absl::Duration warmup = absl::Seconds(10);
  absl::Duration debounce = absl::Milliseconds(20);
};

void AddLiveFlags(GoFlags flags, LiveFlags& f);

// kFailedPrecondition: the flag and what is wrong.
absl::Status CheckLiveFlags(const LiveFlags& f);

// For flags that CheckLiveFlags has accepted.
live::StoreOptions StoreOptionsFrom(const LiveFlags& f);
promql::EvalOptions EvalOptionsFrom(const LiveFlags& f);
// Whether bounds in the labels of text pages become canonical, as since Prometheus 3.
bool CanonicalBoundsFrom(const LiveFlags& f);
// Without KeptSince, which is set later.
adapter::LiveOptions LiveOptionsFrom(const LiveFlags& f);
live::PushLimits PushLimitsFrom(const LiveFlags& f);
live::OtlpOptions OtlpOptionsFrom(const LiveFlags& f);
live::QueryPagesOptions QueryPagesOptionsFrom(const LiveFlags& f);

}  // namespace flyball::serve
