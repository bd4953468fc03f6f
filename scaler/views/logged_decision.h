// One decision as the log keeps it (decision_log.h): what an explanation of it prints.
//
// Pure. Of many pods and samples it has the first `most_samples` and the number of all, of past
// recommendations those that CompactState leaves. Times are rounded up to microseconds.
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
  // These tell of the run of decisions that concluded the same; all else is of the last of them.
  absl::Time first, last;
  // When the reading of the metric that decided was sampled, as the last of them read it; of a
  // steady autoscaler, which is only compared, the oldest of its readings. InfinitePast: unknown.
  absl::Time sampled = absl::InfinitePast();
  uint64_t times = 1;

  ManagedPtr managed;  // with the spec that was decided on; its status may be a newer one
  Mode mode = Mode::kShadow;
  std::optional<absl::Time> newest_sample;
  absl::Duration took;
  bool scale_written = false;
  std::string scale_error;
  std::string activation;  // what the triggers said; "" without them

  std::vector<TriggerMetric> trigger_metrics;  // they come after those of the spec
  ScaleAnswer scale;
  std::vector<std::string> pods;  // names; a sample's row is an index
  size_t pods_in_all = 0;
  std::vector<Reading> readings;  // one for each metric spec; empty when none was read
  Decision decision;
};

// The same, but for the run and `managed`, as bytes for UnpackDecision: of an autoscaler of 10 pods
// about 500, where the structs take 3.4 kB. What other decisions often have to the letter is apart
// from the rest, so that it can be stored once for all of them.
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
