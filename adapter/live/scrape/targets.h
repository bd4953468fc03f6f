// Computes the targets of a job from its discovered groups.
//
// Pure. Source: Prometheus 3.15.0 scrape/target.go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "adapter/live/scrape/config.h"
#include "promql/labels.h"

namespace flyball::scrape {

struct Target {
  promql::LabelSet labels;         // after relabelling, `__…` included, `__meta_…` not
  promql::LabelSet sample_labels;  // those that samples get
  std::string origin;              // "http://10.0.0.1:8080"
  std::string path;                // with the query: "/metrics?format=prometheus"
  absl::Duration interval, timeout;
  // Hash of labels and URL, with a seed of this process since pods choose these texts. It
  // identifies the target and spreads the scrapes.
  uint64_t hash = 0;
};

struct Targets {
  // Each once, in the order of the groups; each page of an annotated pod once.
  std::vector<Target> active;
  size_t left_out = 0;      // targets that were not made, beyond the limit for one pod
  bool over_limit = false;  // there are more than target_limit: each scrape is to fail
  bool incomplete = false;  // other targets are not known yet
};

// The labels that relabelling begins with. The target's own win over those of its group.
promql::LabelSet DiscoveredLabels(const Job& job, const promql::LabelSet& target,
                                  const promql::LabelSet& group);

// Those of a pod's labels that relabelling may need, and of a value that is too long for a target
// only as much as shows that. Annotations may be long, so this is used for jobs that pods have
// asked for. The job has no labelmap rules.
promql::LabelSet LabelsForRules(const Job& job, const promql::LabelSet& labels);

// The namespace of the pod that asked for the target; "": the operator configured it.
std::string NamespaceOf(const Job& job, const Target& target);

// kNotFound: the rules have dropped it. kInvalidArgument: it can't be scraped; the text says why.
absl::StatusOr<Target> MakeTarget(const Job& job, promql::LabelSet discovered);

Targets MakeTargets(const Job& job, absl::Span<const TargetGroup> groups);

}  // namespace flyball::scrape
