// The scrape configuration of a file: a subset of Prometheus's scrape_configs by the same names.
//
// Pure. Source: Prometheus 3.15.0 config. A whole prometheus.yml is accepted: `global` and
// `scrape_configs` count, and sections that have nothing to do with scraping cause a warning. A
// field that is unknown, or that only Prometheus has, is an error with its place, so that nothing
// is ignored silently. Intervals may be as short as kMinInterval.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "adapter/live/relabel/relabel.h"
#include "http/client/transport.h"
#include "promql/labels.h"
#include "rules/config.h"

namespace flyball::scrape {

inline constexpr absl::Duration kMinInterval = absl::Milliseconds(200);

// Limits for targets that pods ask for: how many of one pod, and the bytes of each label's value.
inline constexpr size_t kMaxTargetsOfPod = 32;
inline constexpr size_t kMaxTargetLabelBytes = 2048;

// Targets that have labels in common.
struct TargetGroup {
  std::string source;                     // identifies it within its job; "" in a file
  std::vector<promql::LabelSet> targets;  // each with __address__
  promql::LabelSet labels;
  size_t left_out = 0;  // number of further targets, beyond the limit for one object
};

struct FileDiscovery {
  std::vector<std::string> files;  // the last part may hold one `*`
  absl::Duration refresh_interval = absl::Minutes(5);
};

struct KubernetesDiscovery {
  enum class Role { kPod, kNode, kEndpoints };
  struct Selector {
    Role role = Role::kPod;
    std::string label, field;
  };
  Role role = Role::kPod;
  bool own_namespace = false;
  std::vector<std::string> namespaces;  // and the own one with own_namespace; neither: all
  std::vector<Selector> selectors;      // each role once
  bool attach_node = false;
};

// If one is exceeded, the whole scrape or all targets fail. 0: no limit.
struct Limits {
  uint64_t samples = 0, targets = 0, labels = 0, label_name_bytes = 0, label_value_bytes = 0;
  uint64_t body_bytes = 0;  // after decompression
};

struct Job {
  std::string name;
  absl::Duration interval = absl::Minutes(1), timeout = absl::Seconds(10);
  std::string metrics_path = "/metrics", scheme = "http";
  std::vector<std::pair<std::string, std::vector<std::string>>> params;  // each name once
  bool honor_labels = false, honor_timestamps = true, track_timestamps_staleness = false;
  bool enable_compression = true, extra_scrape_metrics = false, legacy_names = false;
  // As in formats::SeriesLabels. Not a field of the file: Prometheus 3 does it, 2 did not.
  bool canonical_bounds = true;
  Limits limits;
  http::TransportOptions http;  // of all targets, without their address
  std::vector<TargetGroup> static_groups;
  std::vector<FileDiscovery> file_discoveries;
  std::vector<KubernetesDiscovery> kubernetes_discoveries;
  std::vector<relabel::Rule> relabel_rules, metric_relabel_rules;
  // The targets were chosen by the owners of pods, not by the operator. So redirects to other hosts
  // are not followed, a pod has at most kMaxTargetsOfPod targets, and the memory of all these
  // targets has a limit of its own, of which no namespace gets all.
  bool asked_for_by_pods = false;
};

struct Config {
  std::vector<Job> jobs;  // in file order; each name once
};

// The result must not be used if the findings contain errors.
Config ReadScrapeConfig(absl::string_view text, rules::Findings& findings);

// Reads the groups in a file of file_sd_configs, YAML or JSON, with `__meta_filepath`. The result
// must not be used if the findings contain errors.
std::vector<TargetGroup> ReadTargetFile(absl::string_view text, const std::string& file,
                                        rules::Findings& findings);

// The job for pods with the annotations prometheus.io/scrape, port, path and scheme. It has limits,
// since no operator has checked what these pods serve.
Job AnnotatedPods(absl::Duration interval);

}  // namespace flyball::scrape
