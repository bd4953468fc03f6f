#include "scaler/triggers/parts/trigger_plan.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace flyball::scaler {

std::string TriggerPlan::MetricName(absl::string_view part) const {
  return absl::StrCat(
      "s", context.index, "-",
      absl::StrReplaceAll(
          part, {{"/", "-"}, {".", "-"}, {":", "-"}, {"%", "-"}, {"(", "-"}, {")", "-"}}));
}

TriggerMetric TriggerPlan::Metric(absl::string_view part, absl::string_view target_key) const {
  return {.name = MetricName(part),
          .target_type = metadata.MetricType(),
          .target_milli = metadata.Target(target_key)};
}

}  // namespace flyball::scaler
