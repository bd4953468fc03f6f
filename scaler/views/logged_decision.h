// One decision as the log keeps it (decision_log.h): all that an explanation prints.
//
// Pure. It has only the first `most_samples` of pods and samples, with the number of all, and only
// those past recommendations that CompactState leaves. Times are rounded up to microseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "scaler/math/decision.h"
#include "scaler/math/input.h"
#include "scaler/stores/managed.h"
#include "scaler/triggers/trigger.h"
#include "scaler/views/decision_record.h"

namespace flyball::scaler {

struct LoggedDecision {
  // When the first and the last decision of the run were made, all of which concluded the same. All
  // other members but `times` are of the last one.
  absl::Time first, last;
  // When the reading of the metric that decided was sampled; for a steady autoscaler, whose rounds
  // do not tell which metric decides, the oldest of its readings. InfinitePast: unknown.
  absl::Time sampled = absl::InfinitePast();
  uint64_t times = 1;

  ManagedPtr managed;  // with the spec that was decided on; its status may be a newer one
  Mode mode = Mode::kShadow;
  std::optional<absl::Time> newest_sample;
  absl::Duration took;
  bool scale_written = false;
  std::string scale_error;
  std::string activation;  // what the triggers said; "" without them

  std::vector<TriggerMetric> trigger_metrics;  // in `readings` they come after those of the spec
  ScaleAnswer scale;
  std::vector<std::string> pods;  // names; a sample's row is an index
  size_t pods_in_all = 0;
  std::vector<Reading> readings;  // one for each metric spec; empty when none was read
  Decision decision;
};

// The same without the run and `managed`, as bytes for UnpackDecision: about 500 for an autoscaler
// of 10 pods, where the structs take 3.4 kB. The parts that are often equal in many decisions are
// separate, so that they can be stored once for all of them.
struct PackedDecision {
  std::string values;
  std::string conclusion;  // conditions and events
  std::string pods;        // their names
};

// The strings of `out` keep their capacity.
void PackDecision(const DecisionRecord& record, size_t most_samples, PackedDecision& out);

LoggedDecision UnpackDecision(const std::string& values, const std::string& conclusion,
                              const std::string& pods);

}  // namespace flyball::scaler
