#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status_macros.h"
#include "scaler/triggers/makers.h"
#include "scaler/triggers/metadata.h"
#include "scaler/triggers/trigger.h"

namespace flyball::scaler {
namespace {

struct TriggerType {
  absl::string_view name;
  std::unique_ptr<Trigger> (*make)(const TriggerPlan&);
};

constexpr TriggerType kTypes[] = {
    {"cron", MakeCron},
    {"external", MakeExternal},
    {"external-push", MakeExternalPush},
    {"kubernetes-workload", MakeKubernetesWorkload},
    {"metrics-api", MakeMetricsApi},
    {"prometheus", MakePrometheus},
};

}  // namespace

std::string TriggerPlan::MetricName(absl::string_view part) const {
  return absl::StrCat(
      "s", context.index, "-",
      absl::StrReplaceAll(
          part, {{"/", "-"}, {".", "-"}, {":", "-"}, {"%", "-"}, {"(", "-"}, {")", "-"}}));
}

absl::StatusOr<std::unique_ptr<Trigger>> MakeTrigger(const TriggerSpec& spec,
                                                     const TriggerContext& context) {
  for (const TriggerType& type : kTypes) {
    if (type.name != spec.type) continue;
    Metadata metadata(spec, context.index);
    std::unique_ptr<Trigger> trigger = type.make({spec, context, metadata});
    RETURN_IF_ERROR(metadata.status());
    return trigger;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("triggers[", context.index, "].type: unknown type \"", spec.type, "\""));
}

}  // namespace flyball::scaler
