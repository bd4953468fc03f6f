// A trigger: something outside that says how much there is to do, and whether there is anything.
//
// A trigger gives its autoscaler External metrics (Metrics) and reads their values itself (Read).
// The replica math treats them as any other metric. What a trigger adds is activity, which alone
// decides on leaving and entering zero replicas (activation.h).
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

// The largest amount that is known, as of all readings (steps/guard.h).
inline constexpr int64_t kMaxMetricMilli = 9'000'000'000'000'000'000;

// One External metric of a trigger.
struct TriggerMetric {
  std::string name;                                    // "s0-cron-Etc-UTC-08xxx-018xxx"
  TargetType target_type = TargetType::kAverageValue;  // or kValue
  int64_t target_milli = 0;
  bool exact = false;  // MetricSpec::exact

  friend bool operator==(const TriggerMetric&, const TriggerMetric&) = default;
};

// As the math takes it.
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

// What one metric of a trigger says now.
struct TriggerReading {
  // Not empty: unknown, and why. Never a secret, nor anything that the server answered beyond its
  // status code and content type: whoever may write a trigger could read inner servers with it.
  std::string error = {};
  int64_t value_milli = 0;  // never negative
  bool active = false;      // value beyond the activation threshold; unknown: false
  absl::Time time = {};     // of the value
  // What a trigger that counts replicas by itself wakes its target to.
  std::optional<int32_t> replicas = {};
  // Of a trigger whose requests are carried.
  std::optional<FrontReadiness> front = {};
};

class Trigger {
 public:
  virtual ~Trigger() = default;

  // The metrics of this trigger, at least one. A trigger that learns its metrics from a server asks
  // it the first time and after a failure, and gives an error until it has answered.
  virtual absl::StatusOr<std::vector<TriggerMetric>> Metrics(absl::Duration timeout) = 0;

  // One reading for each metric, in order. While the metrics are unknown it is a single reading,
  // which is unknown too.
  virtual std::vector<TriggerReading> Read(absl::Time now, absl::Duration timeout) = 0;

  // The server that Metrics and Read ask, for the limit on calls that one server gets at once
  // (questions/lanes.h); "": they ask nobody outside the process.
  virtual std::string Server() const { return ""; }

  // Whether Metrics and Read answer at once, without a wait and at a cost that nothing makes grow.
  virtual bool AnswersAtOnce() const { return false; }

  // Called once. From then on a trigger that is told of activity (external-push) or demand (http)
  // calls `on_active` at each message, from a thread of whoever tells it; other types never do.
  virtual void Subscribe(const std::function<void()>& /*on_active*/) {}
};

class RequestFront;    // request_front.h
class TriggerClients;  // clients.h

// A key of a Secret.
struct SecretValue {
  std::string text;
  // What the Secret's annotation says of where it may be sent: "host,host:port". Absent: anywhere.
  std::optional<std::string> allowed_hosts = {};
};

// What triggers are made with. What the functions use outlives the trigger.
struct TriggerContext {
  std::string ns;          // of the autoscaler
  std::string autoscaler;  // its name
  size_t index = 0;        // in spec.triggers
  ObjectReference target;  // of the autoscaler, as are the bounds
  int32_t min_replicas = 1;
  int32_t max_replicas = 1;
  // How many pods of `ns` match and are neither Succeeded nor Failed; with `by_node`, on how many
  // nodes they are.
  std::function<absl::StatusOr<int64_t>(absl::string_view ns, const kube::Selector& selector,
                                        bool by_node)>
      count_pods;
  // Reads a key of a Secret in `ns`.
  std::function<absl::StatusOr<SecretValue>(absl::string_view ns, const TriggerSpec::SecretKey&)>
      read_secret;
  // Connections that triggers share, and where they may lead. Absent only where no trigger that
  // asks a server is ever read.
  std::shared_ptr<TriggerClients> clients;
  std::shared_ptr<RequestFront> front;  // absent: nobody carries requests here
};

}  // namespace flyball::scaler
