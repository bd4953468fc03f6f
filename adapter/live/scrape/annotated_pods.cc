#include <algorithm>
#include <utility>

#include "adapter/live/formats/samples.h"
#include "adapter/live/scrape/config.h"

namespace flyball::scrape {
namespace {

// The convention as the Helm chart of Prometheus has it: one target for each port unless the
// annotation names one, no pods that have ended. Discovery gives the address of a pod without
// declared ports as a bare IP, so one of IPv6 still needs its brackets.
constexpr char kJob[] = R"(scrape_configs:
- job_name: annotated-pods
  kubernetes_sd_configs: [{role: pod}]
  relabel_configs:
  - action: keep
    source_labels: [__meta_kubernetes_pod_annotation_prometheus_io_scrape]
    regex: "true"
  - action: drop
    source_labels: [__meta_kubernetes_pod_phase]
    regex: Pending|Succeeded|Failed|Completed
  - source_labels: [__meta_kubernetes_pod_annotation_prometheus_io_scheme]
    regex: (https?)
    target_label: __scheme__
  - source_labels: [__meta_kubernetes_pod_annotation_prometheus_io_path]
    regex: (.+)
    target_label: __metrics_path__
  - source_labels: [__address__]
    regex: ([^\[]*:.*:.*)
    replacement: "[$1]"
    target_label: __address__
  - source_labels: [__address__, __meta_kubernetes_pod_annotation_prometheus_io_port]
    regex: (\[[0-9A-Fa-f:.]+\]|[^:;]+)(?::\d+)?;(\d+)
    replacement: $1:$2
    target_label: __address__
  - {source_labels: [__meta_kubernetes_namespace], target_label: namespace}
  - {source_labels: [__meta_kubernetes_pod_name], target_label: pod}
  - {source_labels: [__meta_kubernetes_pod_container_name], target_label: container}
)";

constexpr uint64_t kMaxPageBytes = 8 << 20;
constexpr uint64_t kMaxPageSamples = 50'000;

}  // namespace

Job AnnotatedPods(absl::Duration interval) {
  rules::Findings findings("annotated pods");
  Job job = std::move(ReadScrapeConfig(kJob, findings).jobs.at(0));
  job.interval = interval;
  job.timeout = std::min(job.timeout, interval);
  job.limits = {.samples = kMaxPageSamples,
                .labels = formats::kMaxLabels,
                .label_name_bytes = formats::kMaxLabelNameBytes,
                .label_value_bytes = formats::kMaxLabelValueBytes,
                .body_bytes = kMaxPageBytes};
  job.asked_for_by_pods = true;
  return job;
}

}  // namespace flyball::scrape
