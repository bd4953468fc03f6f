// Schedules as they are written: a list in the spec of our own kind, or an annotation of a
// HorizontalPodAutoscaler with the same list as YAML or JSON.
//
// Pure. What is wrong is told with the field that it is wrong in.
//
// Limits: kMaxSchedules schedules of kMaxTargets targets; names of 63 bytes; an annotation of
//         64 KiB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "scaler/spec/autoscaler.h"
#include "scaler/spec/document.h"
#include "scaler/spec/field_error.h"
#include "scaler/spec/own_spec.h"
#include "scaler/spec/schedules.h"

namespace flyball::scaler {

inline constexpr absl::string_view kSchedulesAnnotation = "flyball.dev/schedules";
inline constexpr absl::string_view kPausedUntilAnnotation = "flyball.dev/paused-until";

inline constexpr size_t kMaxSchedules = 16;
inline constexpr size_t kMaxTargets = 16;

// Where both are written; nullptr: they are not there.
struct WrittenTimes {
  const Node* schedules = nullptr;
  const std::string* paused_until = nullptr;
  std::string schedules_field = "spec.schedules";  // what errors call them
  std::string paused_until_field = "spec.pausedUntil";
};

// Whose times they are. `spec` has its defaults; a schedule's minReplicas is at least `least`.
struct ScheduledObject {
  const Autoscaler& spec;
  const std::vector<TriggerSpec>& triggers;
  int32_t least = 1;
};

Schedules ReadSchedules(const WrittenTimes& written, const ScheduledObject& object,
                        FieldErrors& errors);

// What the annotations of a HorizontalPodAutoscaler say.
Schedules ReadScheduleAnnotations(const Autoscaler& hpa, FieldErrors& errors);

}  // namespace flyball::scaler
