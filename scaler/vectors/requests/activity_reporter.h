// What a proxy tells the scaler of the targets that it holds requests of: at once when the first
// one comes, and then once a period for as long as there are any.
//
// Pure: no clock, nothing is sent from here. Not thread-safe.
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
  // The report to send at once, if the target had no requests before.
  std::optional<ActivityReport> Begin(absl::string_view target, absl::Time now);

  // Must follow a Begin of the same target.
  void End(absl::string_view target, absl::Time now);

  // One for each target that is known, by name; targets without requests are forgotten.
  std::vector<ActivityReport> Report(absl::Time now);

 private:
  struct Activity {
    explicit Activity(absl::Time now) : meter(now) {}
    RequestMeter meter;
    double told = 1;  // requests that were told at once, to be subtracted from the next report
    int64_t in_flight = 0;
  };

  std::map<std::string, Activity, std::less<>> activities_;
};

}  // namespace flyball::scaler
