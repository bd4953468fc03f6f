// Reading conformed nodes into the structs of hpa.h: what the two API versions have in common.
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "scaler/spec/hpa.h"
#include "scaler/spec/shape.h"

namespace flyball::scaler {

// One member of a conformed map. Absent members give the type's zero value.
std::string ReadString(const Node& map, absl::string_view name);
int32_t ReadInt32(const Node& map, absl::string_view name);
std::optional<int32_t> ReadOptionalInt32(const Node& map, absl::string_view name);
std::optional<int64_t> ReadOptionalInt64(const Node& map, absl::string_view name);
kube::Quantity ReadQuantity(const Node& map, absl::string_view name);
std::optional<kube::Quantity> ReadOptionalQuantity(const Node& map, absl::string_view name);
std::optional<absl::Time> ReadTime(const Node& map, absl::string_view name);
ObjectReference ReadReference(const Node& map, absl::string_view name);
std::optional<LabelSelector> ReadSelector(const Node& map, absl::string_view name);

ObjectMeta ReadObjectMeta(const Node& object);
HpaBehavior ReadBehavior(const Node& behavior, absl::string_view up, absl::string_view down,
                         bool internal_names);
std::vector<Condition> ReadConditions(const Node& list);

// "Resource" → kResource, …; anything else kUnknown.
MetricType ParseMetricType(absl::string_view text);

// Shapes that both versions use.
extern const Shape kObjectMetaShape;
extern const Shape kReferenceShape;
extern const Shape kSelectorShape;
extern const Shape kConditionListShape;

}  // namespace flyball::scaler
