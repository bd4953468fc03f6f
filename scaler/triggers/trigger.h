// A trigger: measures how much work there is, and whether there is any.
//
// A trigger gives its autoscaler External metrics (Metrics) and reads their values itself (Read).
// The replica math treats them like any other metric. A trigger also reports whether it is active;
// that alone decides when zero replicas are left and entered (activation.h).
//
// Implementations are thread-safe. Metrics, Read and Subscribe may block, the first two for no
// longer than their timeout.
//
// Source: KEDA 2.20 names, defaults and units; ARCHITECTURE.md lists what differs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "kube/objects/selector.h"
#include "scaler/spec/autoscaler.h"
#include "scaler/spec/own_spec.h"
#include "scaler/triggers/front_readiness.h"

namespace flyball::scaler {

// The longest time that a trigger is given for a reading.
inline constexpr absl::Duration kMaxTriggerTimeout = absl::Seconds(10);

// One External metric of a trigger.
struct TriggerMetric {
  std::string name;                                    // "s0-cron-Etc-UTC-08xxx-018xxx"
  TargetType target_type = TargetType::kAverageValue;  // or kValue
  int64_t target_milli = 0;
  bool exact = false;  // MetricSpec::exact

  friend bool operator==(const TriggerMetric&, const TriggerMetric&) = default;
};

// The metric in the form that the replica math takes.
inline MetricSpec ToMetricSpec(const TriggerMetric& metric) {
  MetricSpec out;
  out.type = MetricType::kExternal;
  out.type_text = "External";
  out.metric = MakeMetricIdentifier(metric.name, std::nullopt);
  out.exact = metric.exact;
  out.target.type = metric.target_type;
  const TargetAmount amount = MakeTargetAmount(kube::Quantity::FromMilli(metric.target_milli));
  (metric.target_type == TargetType::kValue ? out.target.value : out.target.average_value) = amount;
  return out;
}

// The current reading of one metric of a trigger.
struct TriggerReading {
  // Not empty: the reading is unknown, for this reason. It contains no secret, and of the server's
  // answer only status code and content type: otherwise whoever may write a trigger could read
  // servers inside the cluster with it.
  std::string error = {};
  // With `error`: nothing failed, and `active` is known, as from a scaler that reports only
  // activity.
  bool activity_only = false;
  int64_t value_milli = 0;  // never negative
  // Whether the value is above the activation threshold. A trigger that is told its activity in
  // another way may be active although its value is unknown.
  bool active = false;
  absl::Time time = {};  // of the value
  // The count for leaving zero replicas, from a trigger that counts replicas itself.
  std::optional<int32_t> replicas = {};
  // From an http trigger, whose requests the front carries.
  std::optional<FrontReadiness> front = {};

  bool failed() const { return !error.empty() && !activity_only; }
};

class Trigger {
 public:
  virtual ~Trigger() = default;

  // The metrics of this trigger, at least one. A trigger that gets its metrics from a server asks
  // it the first time and after a failure, and returns an error until it has answered.
  virtual absl::StatusOr<std::vector<TriggerMetric>> Metrics(absl::Duration timeout) = 0;

  // One reading for each metric that Metrics returned last, in order. While the metrics are
  // unknown, a single unknown reading.
  virtual std::vector<TriggerReading> Read(absl::Time now, absl::Duration timeout) = 0;

  // The server that Metrics and Read ask, for the limit on simultaneous calls to one server
  // (base/lanes.h). For much work in this process it is a name for that work; "" if there is
  // neither.
  virtual std::string Server() const { return ""; }

  // Whether Metrics and Read never wait and always take the same short time.
  virtual bool AnswersAtOnce() const { return false; }

  // Called at most once. From then on a trigger that is pushed activity (external-push) or demand
  // (http) calls `on_active` at each message, on the thread that receives it. Other types never
  // call it.
  virtual void Subscribe(const std::function<void()>& /*on_active*/) {}
};

class RequestFront;    // request_front.h
class TriggerClients;  // clients.h

// The value of a key of a Secret.
struct SecretValue {
  std::string text;
  // The servers that it may be sent to, by the Secret's annotation: "host,host:port"; absent: any.
  std::optional<std::string> allowed_hosts = {};
};

// What triggers are made with. Whatever the functions use outlives the trigger.
struct TriggerContext {
  std::string ns;          // of the autoscaler
  std::string autoscaler;  // its name
  size_t index = 0;        // in spec.triggers
  ObjectReference target;  // the autoscaler's; the bounds are too
  int32_t min_replicas = 1;
  int32_t max_replicas = 1;
  // The number of pods of `ns` that match and are neither Succeeded nor Failed; with `by_node` the
  // number of nodes that they are on.
  std::function<absl::StatusOr<int64_t>(absl::string_view ns, const kube::Selector& selector,
                                        bool by_node)>
      count_pods;
  // Reads a key of a Secret in `ns`.
  std::function<absl::StatusOr<SecretValue>(absl::string_view ns, const TriggerSpec::SecretKey&)>
      read_secret;
  // Connections that triggers share, and the addresses that they may connect to. May be absent if
  // no trigger that asks a server is ever read.
  std::shared_ptr<TriggerClients> clients;
  std::shared_ptr<RequestFront> front;  // absent: this process carries no requests
};

}  // namespace flyball::scaler
