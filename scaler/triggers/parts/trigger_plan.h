// What a trigger is made of.
//
// A maker reads all that it needs from TriggerPlan::metadata, which collects what is wrong with it.
// The trigger that it returns is used only when nothing is wrong.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "scaler/triggers/parts/metadata.h"
#include "scaler/triggers/trigger.h"

namespace flyball::scaler {

struct TriggerPlan {
  const TriggerSpec& spec;
  const TriggerContext& context;
  Metadata& metadata;

  // `s<index>-<part>`, with `/ . : % ( )` of the part as `-`.
  std::string MetricName(absl::string_view part) const;
  // The metric of that name whose target is the value of that key.
  TriggerMetric Metric(absl::string_view part, absl::string_view target_key) const;
};

}  // namespace flyball::scaler
