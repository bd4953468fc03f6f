// A trigger with one metric, which its spec describes completely, and whose value a function
// returns. Most types are such triggers.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "scaler/triggers/trigger.h"

namespace flyball::scaler {

struct OneMetric {
  TriggerMetric metric;
  double activation = 0;    // a value above it is active
  std::string server = "";  // Trigger::Server
  std::string source = "";  // begins the messages of errors: "prometheus https://host:port"
  // The current value. Called by several threads at once; takes no longer than the timeout.
  std::function<absl::StatusOr<double>(absl::Time now, absl::Duration timeout)> value;
};

std::unique_ptr<Trigger> MakeOneMetricTrigger(OneMetric metric);

}  // namespace flyball::scaler
