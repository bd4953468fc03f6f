// One scenario for the replica math, read from one line: an autoscaler, settings, and ticks.
//
// Pure values. The format is that of the vectors computed by the controllers of Kubernetes 1.34.4
// and 1.37.1 (test/data/hpa/README.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kube/objects/selector.h"
#include "scaler/math/input.h"
#include "scaler/math/pods.h"
#include "scaler/math/readings.h"
#include "scaler/spec/document.h"
#include "scaler/spec/hpa/admission.h"

namespace flyball::scaler {

// An autoscaler that may select the same pods; it is not decided itself.
struct OtherAutoscaler {
  std::string ns;
  std::string name;
  std::string selector;
};

struct ScaleChange {
  std::optional<int32_t> spec_replicas;    // absent: the last one written
  std::optional<int32_t> status_replicas;  // absent: unchanged
  std::optional<std::string> selector;     // absent: unchanged
};

// The answer of a metrics API to one question.
template <typename Item>
struct ScriptedAnswer {
  // Custom metrics only: `Kind` or `Kind.group`; "Pod" with object "*" answers Pods metrics.
  std::string kind, object;
  std::string metric;
  std::string selector;
  MetricsAnswer<Item> answer;
};

// How calls fail: the words `ok`, `conflict`, `notfound` and `error:TEXT`; "" is `ok`.
struct Faults {
  std::string get_scale;
  std::vector<std::string> update_scale;  // one for each PUT; none left: ok
  std::string update_status;
  std::string list_pods;  // the text of an error; "": no failure
  bool deleted = false;   // the autoscaler is deleted after it was read
};

// The changes in the cluster since the tick before, and the metrics APIs' answers in this one.
struct Tick {
  absl::Time now;
  ScaleChange scale;
  std::optional<Node> spec;           // replaces the autoscaler's
  std::optional<int64_t> generation;  // of the autoscaler; absent: as before
  std::optional<std::vector<Pod>> pods;
  std::vector<std::string> pods_remove;
  std::vector<Pod> pods_upsert;
  std::optional<MetricsAnswer<PodMetrics>> resource;
  std::vector<ScriptedAnswer<ObjectMetric>> custom;
  std::vector<ScriptedAnswer<ExternalMetric>> external;
  Faults faults;
};

struct Scenario {
  std::string id;
  MathConfig math;
  AdmitOptions admit;  // of the same dialect as `math`
  Node autoscaler;
  std::vector<OtherAutoscaler> others;
  ScalerState state;
  std::vector<Tick> ticks;
};

// `otherwise` has the version and gates of a scenario that does not name any; by default they are
// 1.34 and its defaults.
//   kInvalidArgument  the line is not such a scenario
absl::StatusOr<Scenario> ReadScenario(const Node& node, const DialectChoice& otherwise = {});

}  // namespace flyball::scaler
