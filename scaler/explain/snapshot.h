// The cluster as the files that `decide -f` was given describe it: autoscalers, scales, pods and
// answers of the metrics APIs.
//
// Pure values; files are read elsewhere. A file has any number of objects in any order: single
// objects, lists as `kubectl get -o yaml|json` prints them, several YAML documents, and the lists
// that the metrics APIs answer with (`kubectl get --raw`).
//
// Kinds:   HorizontalPodAutoscaler (autoscaling/v2, v1), Autoscaler (flyball.dev); Pod; Deployment,
//          StatefulSet, ReplicaSet, ReplicationController and autoscaling/v1 Scale;
//          PodMetrics(List); MetricValueList (custom.metrics.k8s.io v1beta1, v1beta2);
//          ExternalMetricValueList. Others are counted in `ignored`.
// Errors:  kInvalidArgument, "FILE:LINE: what"; all errors of an autoscaler at once.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "kube/objects/selector.h"
#include "scaler/math/pods.h"
#include "scaler/math/readings.h"
#include "scaler/spec/autoscaler.h"
#include "scaler/spec/own_spec.h"

namespace flyball::scaler {

// The replicas of a workload, as its scale subresource would report them.
struct WorkloadScale {
  std::string kind;  // "Scale": it fits a workload of any kind with that name
  std::string ns;
  std::string name;
  ScaleAnswer answer;
};

struct GivenPodMetrics {
  std::string ns;
  bool asked_for = false;  // one for the selector of the target's pods
  PodMetrics metrics;
};

// A MetricValue.
struct GivenObjectMetric {
  std::string kind;
  std::string ns;
  std::string metric;
  std::string selector;                 // as text; "" if there is none
  std::optional<std::string> asked_by;  // as in GivenExternalMetric
  ObjectMetric value;
};

// An ExternalMetricValue.
struct GivenExternalMetric {
  std::string metric;
  kube::Labels labels;
  std::optional<std::string> asked_by;  // the selector of the metric that it is for, as text
  ExternalMetric value;
};

struct GivenOwnAutoscaler {
  Autoscaler autoscaler;
  OwnSpec own;
  absl::Time created = absl::InfinitePast();
  std::optional<absl::Time> last_active;  // when a trigger was last active, from the status
};

struct ClusterSnapshot {
  std::vector<Autoscaler> autoscalers;  // HorizontalPodAutoscalers
  std::vector<GivenOwnAutoscaler> own_autoscalers;
  std::vector<WorkloadScale> scales;
  std::vector<Pod> pods;  // their labels also say their owners (stores/pod_owner.h)
  std::vector<GivenPodMetrics> pod_metrics;
  std::vector<GivenObjectMetric> object_metrics;
  std::vector<GivenExternalMetric> external_metrics;
  std::map<std::string, int> ignored;        // kind -> number of objects
  std::optional<absl::Time> newest_reading;  // the newest time among all metrics
};

// Adds the objects of one file, whose text is `text`. An answer of a metrics API does not contain
// the selector of the metric that it is for; `asked_by` gives it, if it is known.
absl::Status AddFile(absl::string_view file, absl::string_view text, ClusterSnapshot& snapshot,
                     const std::optional<std::string>& asked_by = std::nullopt);

}  // namespace flyball::scaler
