#include "serve/live_flags.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "adapter/live/scrape/config.h"
#include "promql/parser.h"

namespace flyball::serve {

void AddLiveFlags(GoFlags flags, LiveFlags& f) {
  flags.String("metric-source", f.metric_source,
               "what answers the queries of the rules: prometheus; live: samples that this process "
               "scrapes or is sent, and keeps in memory; prometheus+live: live where it has seen "
               "the query's whole window, prometheus otherwise",
               "prometheus|live|prometheus+live");
  flags.String("live-scrape-config", f.scrape_config,
               "file with scrape_configs as Prometheus has them: what the live source scrapes");
  flags.Duration("live-scrape-annotated-pods", f.scrape_annotated,
                 "scrape the pods with the annotation prometheus.io/scrape, at this interval; 0: "
                 "don't");
  flags.Duration("live-scrape-kubelets", f.scrape_kubelets,
                 "scrape /metrics/resource of each node's kubelet, at this interval, and serve "
                 "metrics.k8s.io from it if the rule file has no resourceRules; 0: don't");
  flags.String("live-kubelet-ca-file", f.kubelet_ca_file,
               "CA of the kubelets' serving certificates; without it that of the cluster");
  flags.Bool("live-kubelet-insecure-tls", f.kubelet_insecure_tls,
             "accept any serving certificate of a kubelet");
  flags.Bool("live-push", f.push,
             "take samples that others send: remote write at /api/v1/write, text at /api/v1/push, "
             "OTLP at /v1/metrics");
  flags.List("live-otlp-promote-resource-attributes", f.promoted_attributes,
             "attributes of OTLP resources that become labels of each of their series");
  flags.Repeated("live-keep", f.keep,
                 "selector of series to keep in addition to those that the rules read; repeatable");
  flags.Duration("live-retention", f.retention, "how long samples are kept");
  flags.Duration(
      "live-out-of-order-window", f.out_of_order,
      "a sample that was sent is refused if it is older than the newest one of its series by more "
      "than this; a scraped one, if it is older at all");
  flags.Int("live-max-series", f.max_series,
            "most series that are kept; when there are as many, new ones are refused");
  flags.Int(
      "live-max-bytes", f.max_bytes,
      "most memory that the series and their samples may take; beyond it, new series are refused");
  flags.Int("live-max-request-bytes", f.max_request_bytes,
            "longest request with samples, as it is sent; more is answered 413");
  flags.Int("live-max-request-unpacked-bytes", f.max_request_unpacked_bytes,
            "the same once it is uncompressed");
  flags.Int("live-max-query-bytes", f.max_query_bytes,
            "most memory that the queries of the HTTP API take together, with their answers until "
            "these are sent; two run at a time, and each may take half of it");
  flags.Bool("live-warm-start", f.warm_start,
             "fetch the samples of the retention from Prometheus at the start, where "
             "--metric-source has it or --prometheus-url is given");
  flags.String("live-snapshot", f.snapshot,
               "file in which the samples are kept each minute and at the end, and from which a "
               "restart goes on");
  flags.String("promql-dialect", f.dialect,
               "major version of the Prometheus whose PromQL the live source speaks", "2|3");
  flags.Duration("live-lookback", f.lookback,
                 "how old a series' newest sample may be and still be its value");
  flags.Duration("live-warmup", f.warmup,
                 "how long after a start a selector's result is unknown, because not every series "
                 "may have been seen yet");
  flags.Duration("live-debounce", f.debounce,
                 "how long after a sample the autoscalers that read it are decided; samples that "
                 "arrive in between are included");
}

absl::Status CheckLiveFlags(const LiveFlags& f) {
  if (f.metric_source != "prometheus" && f.metric_source != "live" &&
      f.metric_source != "prometheus+live") {
    return absl::FailedPreconditionError(
        absl::StrCat("--metric-source: expected prometheus, live or prometheus+live, got \"",
                     f.metric_source, "\""));
  }
  for (const std::string& selector : f.keep) {
    const absl::Status read = promql::ParseSeriesSelector(selector).status();
    if (read.ok()) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("--live-keep: \"", selector, "\": ", read.message()));
  }
  const auto positive = [](const char* flag, int value) {
    return RefusedFlag{value <= 0, absl::StrCat(flag, ": expected more than 0, got ", value)};
  };
  return FirstRefused({
      positive("--live-max-series", f.max_series),
      positive("--live-max-bytes", f.max_bytes),
      positive("--live-max-request-bytes", f.max_request_bytes),
      positive("--live-max-query-bytes", f.max_query_bytes),
      positive("--live-max-request-unpacked-bytes", f.max_request_unpacked_bytes),
      {f.dialect != "3" && f.dialect != "2",
       absl::StrCat("--promql-dialect: expected 3 or 2, got \"", f.dialect, "\"")},
      {f.retention <= absl::ZeroDuration(), "--live-retention: expected more than 0"},
      {f.warmup < absl::ZeroDuration(), "--live-warmup: expected 0 or more"},
      {f.debounce < absl::ZeroDuration(), "--live-debounce: expected 0 or more"},
      {f.lookback <= absl::ZeroDuration(), "--live-lookback: expected more than 0"},
      {f.out_of_order < absl::ZeroDuration(), "--live-out-of-order-window: expected 0 or more"},
      {f.scrape_kubelets != absl::ZeroDuration() && f.scrape_kubelets < absl::Seconds(1),
       "--live-scrape-kubelets: expected 0, or 1s or more"},
      {f.scrape_annotated != absl::ZeroDuration() && f.scrape_annotated < scrape::kMinInterval,
       absl::StrCat("--live-scrape-annotated-pods: expected 0, or ",
                    absl::FormatDuration(scrape::kMinInterval), " or more")},
  });
}

live::StoreOptions StoreOptionsFrom(const LiveFlags& f) {
  live::StoreOptions options;
  options.retention_ms = absl::ToInt64Milliseconds(f.retention);
  options.out_of_order_ms = absl::ToInt64Milliseconds(f.out_of_order);
  options.max_series = static_cast<size_t>(f.max_series);
  options.max_bytes = static_cast<size_t>(f.max_bytes);
  return options;
}

promql::EvalOptions EvalOptionsFrom(const LiveFlags& f) {
  promql::EvalOptions options;
  options.dialect = f.dialect == "2" ? promql::Dialect::k2 : promql::Dialect::k3;
  options.lookback_ms = absl::ToInt64Milliseconds(f.lookback);
  return options;
}

bool CanonicalBoundsFrom(const LiveFlags& f) {
  return EvalOptionsFrom(f).dialect != promql::Dialect::k2;
}

adapter::LiveOptions LiveOptionsFrom(const LiveFlags& f) {
  return {.eval = EvalOptionsFrom(f),
          .window = {.kept = nullptr,
                     .retention = f.retention,
                     .warmup = std::min(f.warmup, f.lookback)},
          .debounce = f.debounce,
          .refuses_unseen = f.prometheus()};
}

live::PushLimits PushLimitsFrom(const LiveFlags& f) {
  live::PushLimits limits;
  limits.max_uncompressed_bytes = static_cast<size_t>(f.max_request_unpacked_bytes);
  return limits;
}

live::OtlpOptions OtlpOptionsFrom(const LiveFlags& f) {
  live::OtlpOptions options;
  options.promote_resource_attributes = f.promoted_attributes;
  options.retention_ms = absl::ToInt64Milliseconds(f.retention);
  return options;
}

live::QueryPagesOptions QueryPagesOptionsFrom(const LiveFlags& f) {
  live::QueryPagesOptions options;
  options.dialect = EvalOptionsFrom(f).dialect;
  options.lookback_ms = EvalOptionsFrom(f).lookback_ms;
  options.limits.max_bytes = static_cast<size_t>(f.max_query_bytes);
  return options;
}

}  // namespace flyball::serve
