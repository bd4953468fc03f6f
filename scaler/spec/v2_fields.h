// Reads nodes that Conform (shape.h) has made fit their shape into the structs of hpa.h: the part
// that autoscaling/v1 and autoscaling/v2 have in common.
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "scaler/spec/hpa.h"
#include "scaler/spec/shape.h"

namespace flyball::scaler {

// Each reads one member of such a map. An absent member gives the type's zero value.
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
// `up` and `down` are the names of the two members. With `internal_names` the members of their
// rules have the names of Go's internal structs, as they do in v1's annotation.
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
