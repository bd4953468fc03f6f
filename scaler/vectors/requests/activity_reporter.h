// The reports that a proxy sends to the scaler about targets whose requests it holds: one at once
// when the first request comes, then one in each period while there are any.
//
// Pure: it has no clock and sends nothing. Not thread-safe.
//
// Source: Knative Serving v0.51.0 pkg/activator/handler/concurrency_reporter.go.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "scaler/front/request_meter.h"

namespace flyball::scaler {

struct ActivityReport {
  std::string target;
  double concurrency = 0;
  double requests = 0;
};

class ActivityReporter {
 public:
  // A request begins. Returns the report to send at once, if the target had no requests before.
  std::optional<ActivityReport> Begin(absl::string_view target, absl::Time now);

  // A request ends. Must follow a Begin of the same target.
  void End(absl::string_view target, absl::Time now);

  // One report for each known target, sorted by name; targets without requests are removed.
  std::vector<ActivityReport> Report(absl::Time now);

 private:
  struct Activity {
    explicit Activity(absl::Time now) : meter(now) {}
    RequestMeter meter;
    double told = 1;  // requests that were reported at once; subtracted from the next report
    int64_t in_flight = 0;
  };

  std::map<std::string, Activity, std::less<>> activities_;
};

}  // namespace flyball::scaler
