// Proposal: what one metric asks for, and how it came about.
//
// Plain values, filled by Propose (hpa/metrics_path.h); part of a Decision (decision.h). Steps that
// were not taken are absent and never zero.
//
// Units:   amounts are int64 thousandths; utilisation is whole percent of the request; ratios have
//          no unit; replicas are int32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace flyball::scaler {

// Nothing changes while 1 - down <= ratio <= 1 + up; both ends belong to the band.
struct Tolerance {
  double down = 0.1;
  double up = 0.1;

  double low() const { return 1.0 - down; }
  double high() const { return 1.0 + up; }
  bool Holds(double ratio) const { return low() <= ratio && ratio <= high(); }  // false for NaN

  friend bool operator==(const Tolerance&, const Tolerance&) = default;
};

enum class PodGroup : uint8_t { kIgnored, kUnready, kMissing, kReady };

// How many pods are in each group; strangers are samples of pods that the selector does not select.
struct GroupCounts {
  int64_t ready = 0;
  int64_t unready = 0;
  int64_t missing = 0;
  int64_t ignored = 0;
  int64_t strangers = 0;

  friend bool operator==(const GroupCounts&, const GroupCounts&) = default;
};

// Which formula gave the replicas.
enum class Formula {
  kNone,              // the metric failed
  kPodAverage,        // ceil(ratio * pods), ratio = mean / target
  kPodUtilization,    // ceil(ratio * pods), ratio = percent / target percent
  kTotalPerReadyPod,  // Value: ceil(ratio * ready pods), ratio = total / target
  kTotalFromZero,     // Value, scaled to zero: ceil(ratio)
  kTotalOverTarget,   // AverageValue: ceil(total / target), ratio = total / (target * replicas)
};

// What was done with the formula's result.
enum class Verdict {
  kFailed,
  kComputed,         // the formula's result stands
  kWithinTolerance,  // the ratio is inside the band: keep the count
  kWouldFlip,        // with the gaps filled in, the ratio points the other way: keep the count
  kWouldReverse,     // the filled-in ratio's count points the other way: keep the count
  kInstead,          // nothing was read: Reading::instead is proposed, without a formula
};

// One metric's proposal and how it came about.
struct Proposal {
  bool valid = false;
  int32_t replicas = 0;                 // valid only
  std::string name;                     // valid only: the metric's name in conditions and events
  std::optional<absl::Time> timestamp;  // of the reading, where upstream reports one
  bool activity_only = false;           // kInstead only: as Reading::Instead

  // Invalid only. `error` is the innermost text, as event and condition show it; `wrapped_error` is
  // what the aggregate error and the log show.
  std::string error;
  std::string wrapped_error;
  std::string reason;       // "FailedGetResourceMetric", …
  bool spec_fault = false;  // the autoscaler itself is wrong (unknown metric type)

  // The reading.
  std::optional<absl::Time> reading_time;  // of the first item, whatever upstream reports
  std::optional<absl::Duration> age;
  size_t items = 0;                  // samples or series in the answer
  GroupCounts groups;                // pod formulas only
  std::vector<PodGroup> pod_groups;  // by PodTable row; only with DecideOptions::pod_detail

  // The formula and its numbers. Which are set depends on the formula.
  Formula formula = Formula::kNone;
  Verdict verdict = Verdict::kFailed;
  Tolerance tolerance;
  int32_t base_replicas = 0;           // kept when the verdict is not kComputed
  int64_t sum_milli = 0;               // of the usable samples or of all series, as measured
  int64_t samples_counted = 0;         // divisor of the mean
  int64_t requests_milli = 0;          // kPodUtilization: of the counted pods
  int64_t measured_milli = 0;          // what the status shows: mean, total, or total per replica
  std::optional<int32_t> utilization;  // kPodUtilization, percent
  int64_t target_milli = 0;            // all formulas but kPodUtilization
  int32_t target_utilization = 0;      // kPodUtilization, percent
  double ratio = 0;
  double multiplier = 0;  // pods that the last ratio was multiplied by

  // How missing and unready pods were counted, if that was done, and the result.
  bool refilled = false;
  std::optional<int64_t> missing_milli;    // kPodAverage: each missing pod counted as this
  std::optional<int64_t> missing_percent;  // kPodUtilization: as this percent of its request
  bool unready_as_zero = false;
  int64_t refilled_sum_milli = 0;
  int64_t refilled_samples = 0;
  int64_t refilled_requests_milli = 0;
  double refilled_ratio = 0;
  std::optional<int32_t> discarded_replicas;  // kWouldReverse: the count that was not proposed

  // Until this time, time alone does not change the groups; at it, the next pod is initialised.
  absl::Time valid_until = absl::InfiniteFuture();
};

}  // namespace flyball::scaler
