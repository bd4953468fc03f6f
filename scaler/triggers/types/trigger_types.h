// The table of the types of triggers, with one row for each. The checks of a spec, the enum of the
// custom resource definition and the pages of the documentation are made from it or tested against
// it.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "scaler/triggers/parts/metadata.h"
#include "scaler/triggers/trigger.h"

namespace flyball::scaler {

// A row, which is defined in the file of its type.
struct TriggerType {
  absl::string_view name;
  absl::string_view says;  // what its value is, for the documentation
  MetadataKeys keys;
  std::unique_ptr<Trigger> (*make)(const TriggerPlan&);
};

// All types, sorted by name.
absl::Span<const TriggerType* const> TriggerTypes();
const std::vector<absl::string_view>& TriggerTypeNames();

// Error: kInvalidArgument with everything that is wrong with the spec, each after its field:
// `triggers[1].metadata.timezone: unknown time zone "Mars/Base"`.
absl::StatusOr<std::unique_ptr<Trigger>> MakeTrigger(const TriggerSpec& spec,
                                                     const TriggerContext& context);

}  // namespace flyball::scaler
