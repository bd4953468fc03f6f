// Schedules: which bounds and targets hold at what time, and when an autoscaler is paused.
//
// Pure. A schedule is open in [start, end): from each start to the next end, like the window of a
// cron trigger (cron_expression.h says what a change of clocks does). If several are open, each
// field is set by the one with the highest priority that sets it; of equal priorities by the first.
// A field that no open schedule sets is that of the spec.
//
// minReplicas never exceeds maxReplicas: each schedule alone is checked against the spec when it is
// read; if two open schedules disagree, the bound of the one that comes first in the order above
// counts and the other bound is set to it.
//
// A schedule changes a spec only at the beginning of a minute or at `paused_until`.
//
// Limits: those of schedules_read.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "scaler/spec/autoscaler.h"
#include "scaler/spec/cron_expression.h"

namespace flyball::scaler {

// Another target for the metric or trigger of that name (scheduled_targets.h).
struct ScheduledTarget {
  std::string name;
  std::string amount;
};

struct ScheduleWindow {
  bool IsOpen(absl::Time now) const;

  std::string name;  // for people; unique
  CronExpression start, end;
  absl::TimeZone zone;
  int32_t priority = 0;
  std::optional<int32_t> min_replicas;
  std::optional<int32_t> max_replicas;
  std::vector<ScheduledTarget> targets;
  std::optional<bool> paused;
};

// The schedules of one autoscaler.
struct Schedules {
  std::vector<ScheduleWindow> windows;  // in the order in which they count
  std::optional<absl::Time> paused_until;

  bool empty() const { return windows.empty() && !paused_until.has_value(); }
};

// The bounds, targets and pause at one time.
struct ScheduledSpec {
  std::optional<int32_t> min_replicas;
  int32_t max_replicas = 0;
  std::vector<ScheduledTarget> targets;  // each name once
  bool paused = false;
  // Which schedules are open and what they set; "" if the spec holds as it is written:
  // `schedule "night": minReplicas 2; paused until 2026-03-04T08:00:00Z`.
  std::string why;
};

ScheduledSpec SpecAt(const Schedules& schedules, const Autoscaler& written, absl::Time now);

}  // namespace flyball::scaler
