// How each type of trigger is made; for this folder only.
//
// A maker reads all that it needs from TriggerPlan::metadata, which collects what is wrong with it.
// The trigger that it returns is used only when nothing is wrong.
#pragma once

#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "scaler/triggers/metadata.h"
#include "scaler/triggers/trigger.h"

namespace flyball::scaler {

struct TriggerPlan {
  const TriggerSpec& spec;
  const TriggerContext& context;
  Metadata& metadata;

  // `s<index>-<part>`, with `/ . : % ( )` of the part as `-`.
  std::string MetricName(absl::string_view part) const;
};

std::unique_ptr<Trigger> MakeCron(const TriggerPlan& plan);
std::unique_ptr<Trigger> MakeExternal(const TriggerPlan& plan);      // is polled
std::unique_ptr<Trigger> MakeExternalPush(const TriggerPlan& plan);  // is also told of activity
std::unique_ptr<Trigger> MakeKubernetesWorkload(const TriggerPlan& plan);
std::unique_ptr<Trigger> MakeMetricsApi(const TriggerPlan& plan);
std::unique_ptr<Trigger> MakePrometheus(const TriggerPlan& plan);

}  // namespace flyball::scaler
