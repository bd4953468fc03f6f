// One decision with what it was made of, packed into a few hundred bytes.
//
// Pure. It keeps what an explanation prints. Of many pods and samples it keeps the first
// `most_samples` and the number of all, of past recommendations those that CompactState leaves.
// Times are rounded up to microseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "scaler/math/decision.h"
#include "scaler/math/input.h"
#include "scaler/stores/managed.h"
#include "scaler/views/decision_record.h"

namespace flyball::scaler {

struct LoggedDecision {
  // These tell of the run of decisions that concluded the same; all else is of the last of them.
  absl::Time first, last;
  uint64_t times = 1;

  ManagedPtr managed;  // with the spec that was decided on; its status may be a newer one
  Mode mode = Mode::kShadow;
  std::optional<absl::Time> newest_sample;
  absl::Duration took;
  bool scale_written = false;
  std::string scale_error;
  std::string activation;  // what the triggers said; "" without them

  std::vector<MetricSpec> trigger_metrics;  // External metrics, after those of the spec
  ScaleAnswer scale;
  std::vector<std::string> pods;  // names; a sample's row is an index
  size_t pods_in_all = 0;
  std::vector<Reading> readings;  // one for each metric spec; empty when none was read
  Decision decision;
};

void PackDecision(const DecisionRecord& record, size_t most_samples, std::string& bytes);

// Fills all of `out` but first, last, times and managed. False: the bytes are no packed decision.
bool UnpackDecision(absl::string_view bytes, LoggedDecision& out);

}  // namespace flyball::scaler
