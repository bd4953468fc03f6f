// A trigger: something outside that says how much there is to do, and whether there is anything.
//
// A trigger becomes External metrics of its autoscaler (Metrics), whose values it reads itself. The
// replica math is the same as for every metric; what a trigger adds is activity, which alone may
// leave and enter zero replicas (activation.h).
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

namespace flyball::scaler {

// One External metric of a trigger.
struct TriggerMetric {
  std::string name;                                    // "s0-cron-Etc-UTC-08xxx-018xxx"
  TargetType target_type = TargetType::kAverageValue;  // or kValue
  int64_t target_milli = 0;
};

// What one metric of a trigger says now.
struct TriggerReading {
  // Not empty: unknown, and why. Never a secret, nor anything that the server answered beyond its
  // status code and content type: whoever may write a trigger could read inner servers with it.
  std::string error = {};
  int64_t value_milli = 0;  // never negative
  bool active = false;      // value beyond the activation threshold; unknown: false
  absl::Time time = {};     // of the value
};

class Trigger {
 public:
  virtual ~Trigger() = default;

  // The metrics of this trigger, at least one. A trigger whose metrics are told by a server asks it
  // the first time and after a failure; an error while it has not answered.
  virtual absl::StatusOr<std::vector<TriggerMetric>> Metrics(absl::Duration timeout) = 0;

  // One reading for each metric, in order; a single one that is unknown while the metrics are.
  virtual std::vector<TriggerReading> Read(absl::Time now, absl::Duration timeout) = 0;

  // Who is asked, so that nobody is asked too much at once; "": nobody outside.
  virtual std::string Server() const { return ""; }

  // Called once. A trigger that is told of activity (external-push) calls `on_active` then, from a
  // thread of the connection that tells it; others never do.
  virtual void Subscribe(const std::function<void()>& /*on_active*/) {}
};

class TriggerClients;  // clients.h

// A key of a Secret.
struct SecretValue {
  std::string text;
  // What the Secret's annotation says of where it may be sent: "host,host:port". Absent: anywhere.
  std::optional<std::string> allowed_hosts = {};
};

// What triggers are made with. All outlive the trigger.
struct TriggerContext {
  std::string ns;          // of the autoscaler
  std::string autoscaler;  // its name
  size_t index = 0;        // in spec.triggers
  // Pods of `ns` that are neither Succeeded nor Failed and match; distinct nodes when by_node.
  std::function<absl::StatusOr<int64_t>(absl::string_view ns, const kube::Selector& selector,
                                        bool by_node)>
      count_pods;
  // A key of a Secret in `ns`.
  std::function<absl::StatusOr<SecretValue>(absl::string_view ns, const TriggerSpec::SecretKey&)>
      read_secret;
  // Connections that triggers share, and where they may lead; absent: each trigger has its own,
  // and special addresses (http/client/address_rules.h) are refused.
  std::shared_ptr<TriggerClients> clients;
};

// Everything wrong with the spec in one kInvalidArgument, the field first:
// `triggers[1].metadata.timezone: unknown time zone "Mars/Base"`.
absl::StatusOr<std::unique_ptr<Trigger>> MakeTrigger(const TriggerSpec& spec,
                                                     const TriggerContext& context);

}  // namespace flyball::scaler
