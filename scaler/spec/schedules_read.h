// Reads schedules: a list in the spec of an Autoscaler (CRD), or an annotation of a
// HorizontalPodAutoscaler with the same list as YAML or JSON.
//
// Pure. Each error names its field.
//
// Limits: kMaxSchedules schedules of kMaxTargets targets; names of 63 bytes; an annotation of
//         64 KiB and 1000 values, of which 64 pauses are kept if something in it is wrong.
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

// The two fields as the object has them; nullptr: absent.
struct WrittenTimes {
  const Node* schedules = nullptr;
  const std::string* paused_until = nullptr;
  std::string schedules_field = "spec.schedules";  // what errors call them
  std::string paused_until_field = "spec.pausedUntil";
};

// The autoscaler of the schedules. `spec` has its defaults; `least` is the smallest minReplicas
// that a schedule may set.
struct ScheduledObject {
  const Autoscaler& spec;
  const std::vector<TriggerSpec>& triggers;
  int32_t least = 1;
};

Schedules ReadSchedules(const WrittenTimes& written, const ScheduledObject& object,
                        FieldErrors& errors);

// Reads the two annotations of a HorizontalPodAutoscaler. If anything in them is wrong, the windows
// are only those that pause, without their bounds and targets: an HPA stays in force with such
// annotations, and must not be written during a pause because something else in them is wrong, be
// it in the same schedule. A text that is no YAML list, or is over the limits of an annotation,
// pauses nothing. `errors` is empty before.
Schedules ReadScheduleAnnotations(const Autoscaler& hpa, FieldErrors& errors);

}  // namespace flyball::scaler
