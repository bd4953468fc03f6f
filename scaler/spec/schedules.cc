#include "scaler/spec/schedules.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kube/objects/json_members.h"

namespace flyball::scaler {
namespace {

// A bound, and the place of the schedule that set it among the windows; the spec comes last.
struct Bound {
  std::optional<int32_t> replicas;
  size_t place = SIZE_MAX;
};

void Append(std::string& out, absl::string_view separator, absl::string_view text) {
  absl::StrAppend(&out, out.empty() ? "" : separator, text);
}

std::string WhatItSets(const ScheduleWindow& window) {
  std::string sets;
  if (window.min_replicas) Append(sets, ", ", absl::StrCat("minReplicas ", *window.min_replicas));
  if (window.max_replicas) Append(sets, ", ", absl::StrCat("maxReplicas ", *window.max_replicas));
  for (const ScheduledTarget& target : window.targets) {
    Append(sets, ", ", absl::StrCat("target of ", target.name, " ", target.amount));
  }
  if (window.paused) Append(sets, ", ", *window.paused ? "paused" : "not paused");
  return absl::StrCat("schedule \"", window.name, "\": ", sets);
}

void AddTargets(const std::vector<ScheduledTarget>& more, std::vector<ScheduledTarget>& out) {
  for (const ScheduledTarget& target : more) {
    if (std::none_of(out.begin(), out.end(),
                     [&](const ScheduledTarget& other) { return other.name == target.name; })) {
      out.push_back(target);
    }
  }
}

}  // namespace

bool ScheduleWindow::IsOpen(absl::Time now) const { return IsOpenAt(now, start, end, zone); }

ScheduledSpec SpecAt(const Schedules& schedules, const Autoscaler& written, absl::Time now) {
  ScheduledSpec out;
  Bound min{.replicas = written.min_replicas};
  Bound max{.replicas = written.max_replicas};
  std::optional<bool> paused;
  for (size_t i = 0; i < schedules.windows.size(); ++i) {
    const ScheduleWindow& window = schedules.windows[i];
    if (!window.IsOpen(now)) continue;
    if (window.min_replicas && min.place == SIZE_MAX) min = {window.min_replicas, i};
    if (window.max_replicas && max.place == SIZE_MAX) max = {window.max_replicas, i};
    AddTargets(window.targets, out.targets);
    if (!paused.has_value()) paused = window.paused;
    Append(out.why, "; ", WhatItSets(window));
  }
  if (min.replicas.value_or(1) > *max.replicas) {
    Bound& yields = min.place < max.place ? max : min;
    yields.replicas = min.place < max.place ? min.replicas : max.replicas;
  }
  out.paused = paused.value_or(false);
  out.min_replicas = min.replicas;
  out.max_replicas = *max.replicas;
  if (schedules.paused_until.has_value() && now < *schedules.paused_until) {
    out.paused = true;
    Append(out.why, "; ", absl::StrCat("paused until ", kube::TimeText(*schedules.paused_until)));
  }
  return out;
}

}  // namespace flyball::scaler
