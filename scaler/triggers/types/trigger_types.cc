#include "scaler/triggers/types/trigger_types.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace flyball::scaler {

extern const TriggerType kCron, kExternal, kExternalPush, kHttp, kKubernetesWorkload, kMetricsApi,
    kPrometheus;

absl::Span<const TriggerType* const> TriggerTypes() {
  static constexpr const TriggerType* kTable[] = {
      &kCron, &kExternal, &kExternalPush, &kHttp, &kKubernetesWorkload, &kMetricsApi, &kPrometheus};
  return kTable;
}

const std::vector<absl::string_view>& TriggerTypeNames() {
  static const auto* const names = [] {
    auto* const all = new std::vector<absl::string_view>();
    for (const TriggerType* type : TriggerTypes()) all->push_back(type->name);
    return all;
  }();
  return *names;
}

absl::StatusOr<std::unique_ptr<Trigger>> MakeTrigger(const TriggerSpec& spec,
                                                     const TriggerContext& context) {
  for (const TriggerType* type : TriggerTypes()) {
    if (type->name != spec.type) continue;
    Metadata metadata(spec, context.index, type->keys);
    std::unique_ptr<Trigger> trigger = type->make({spec, context, metadata});
    metadata.Refuse();
    RETURN_IF_ERROR(metadata.status());
    return trigger;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("triggers[", context.index, "].type: unknown type \"", spec.type, "\""));
}

}  // namespace flyball::scaler
