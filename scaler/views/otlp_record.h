// Turns lines of the decision log into OpenTelemetry logs: the body of a POST to /v1/logs.
//
// Pure. Each field of a line (decision_line.h) is an attribute of its record.
// Source:  opentelemetry-proto v1.10.0 logs/v1 and collector/logs/v1 in their JSON form, in which
//          64-bit integers are text.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "absl/types/span.h"

namespace flyball::scaler {

struct TimedLine {
  absl::Time time;
  std::string line;
};

std::string OtlpLogs(absl::Span<const TimedLine> lines);

}  // namespace flyball::scaler
