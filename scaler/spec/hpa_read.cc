#include "scaler/spec/hpa_read.h"

#include "absl/strings/numbers.h"

namespace flyball::scaler {
namespace {

const Shape kStringListShape{.type = Shape::Type::kList, .item = &kStringShape};

const Shape kOwnerReferenceShape{.fields = {{"apiVersion", &kStringShape},
                                            {"kind", &kStringShape},
                                            {"name", &kStringShape},
                                            {"uid", &kStringShape},
                                            {"controller", &kBoolShape, true},
                                            {"blockOwnerDeletion", &kBoolShape, true}}};
const Shape kOwnerReferencesShape{.type = Shape::Type::kList, .item = &kOwnerReferenceShape};

const Shape kManagedFieldsEntryShape{.fields = {{"manager", &kStringShape},
                                                {"operation", &kStringShape},
                                                {"apiVersion", &kStringShape},
                                                {"time", &kTimeShape, true},
                                                {"fieldsType", &kStringShape},
                                                {"fieldsV1", &kAnyShape, true},
                                                {"subresource", &kStringShape}}};
const Shape kManagedFieldsShape{.type = Shape::Type::kList, .item = &kManagedFieldsEntryShape};

const Shape kSelectorRequirementShape{
    .fields = {{"key", &kStringShape}, {"operator", &kStringShape}, {"values", &kStringListShape}}};
const Shape kSelectorRequirementsShape{.type = Shape::Type::kList,
                                       .item = &kSelectorRequirementShape};

const Shape kConditionShape{.fields = {{"type", &kStringShape},
                                       {"status", &kStringShape},
                                       {"lastTransitionTime", &kTimeShape},
                                       {"reason", &kStringShape},
                                       {"message", &kStringShape}}};

int64_t ToInteger(const Node& node) {
  int64_t value = 0;
  (void)absl::SimpleAtoi(node.text, &value);  // conformed: it is one
  return value;
}

std::map<std::string, std::string> ReadStringMap(const Node& map, absl::string_view name) {
  std::map<std::string, std::string> out;
  if (const Node* member = map.Find(name)) {
    for (const auto& [key, value] : member->members) out[key] = value.text;
  }
  return out;
}

std::vector<std::string> ReadStrings(const Node& map, absl::string_view name) {
  std::vector<std::string> out;
  if (const Node* member = map.Find(name)) {
    for (const Node& item : member->items) out.push_back(item.text);
  }
  return out;
}

// The upper-case names are those of the API server's internal type.
HpaRules ReadRules(const Node& rules, bool internal) {
  HpaRules out;
  out.stabilization_window_seconds = ReadOptionalInt32(
      rules, internal ? "StabilizationWindowSeconds" : "stabilizationWindowSeconds");
  if (const Node* policy = rules.Find(internal ? "SelectPolicy" : "selectPolicy")) {
    out.select_policy = policy->text;
  }
  if (const Node* policies = rules.Find(internal ? "Policies" : "policies")) {
    out.policies.emplace();
    for (const Node& policy : policies->items) {
      out.policies->push_back(
          {.type = ReadString(policy, internal ? "Type" : "type"),
           .value = ReadInt32(policy, internal ? "Value" : "value"),
           .period_seconds = ReadInt32(policy, internal ? "PeriodSeconds" : "periodSeconds")});
    }
  }
  out.tolerance = ReadOptionalQuantity(rules, internal ? "Tolerance" : "tolerance");
  return out;
}

}  // namespace

const Shape kReferenceShape{
    .fields = {{"kind", &kStringShape}, {"name", &kStringShape}, {"apiVersion", &kStringShape}}};

const Shape kSelectorShape{.fields = {{"matchLabels", &kStringMapShape},
                                      {"matchExpressions", &kSelectorRequirementsShape}}};

const Shape kConditionListShape{.type = Shape::Type::kList, .item = &kConditionShape};

const Shape kObjectMetaShape{.fields = {{"name", &kStringShape},
                                        {"generateName", &kStringShape},
                                        {"namespace", &kStringShape},
                                        {"selfLink", &kStringShape},
                                        {"uid", &kStringShape},
                                        {"resourceVersion", &kStringShape},
                                        {"generation", &kInt64Shape},
                                        {"creationTimestamp", &kTimeShape},
                                        {"deletionTimestamp", &kTimeShape, true},
                                        {"deletionGracePeriodSeconds", &kInt64Shape, true},
                                        {"labels", &kStringMapShape},
                                        {"annotations", &kStringMapShape},
                                        {"ownerReferences", &kOwnerReferencesShape},
                                        {"finalizers", &kStringListShape},
                                        {"managedFields", &kManagedFieldsShape}}};

std::string ReadString(const Node& map, absl::string_view name) {
  return std::string(map.FindText(name));
}

int32_t ReadInt32(const Node& map, absl::string_view name) {
  return ReadOptionalInt32(map, name).value_or(0);
}

std::optional<int32_t> ReadOptionalInt32(const Node& map, absl::string_view name) {
  const Node* member = map.Find(name);
  if (member == nullptr) return std::nullopt;
  return static_cast<int32_t>(ToInteger(*member));
}

std::optional<int64_t> ReadOptionalInt64(const Node& map, absl::string_view name) {
  const Node* member = map.Find(name);
  if (member == nullptr) return std::nullopt;
  return ToInteger(*member);
}

kube::Quantity ReadQuantity(const Node& map, absl::string_view name) {
  return ReadOptionalQuantity(map, name).value_or(kube::Quantity());
}

std::optional<kube::Quantity> ReadOptionalQuantity(const Node& map, absl::string_view name) {
  const Node* member = map.Find(name);
  if (member == nullptr) return std::nullopt;
  absl::StatusOr<kube::Quantity> quantity = kube::Quantity::Parse(member->text);
  if (!quantity.ok()) return std::nullopt;  // conformed: it is one
  return *quantity;
}

std::optional<absl::Time> ReadTime(const Node& map, absl::string_view name) {
  const Node* member = map.Find(name);
  absl::Time time;
  std::string error;
  if (member == nullptr || !absl::ParseTime(absl::RFC3339_full, member->text, &time, &error)) {
    return std::nullopt;
  }
  return time;
}

ObjectReference ReadReference(const Node& map, absl::string_view name) {
  const Node* member = map.Find(name);
  if (member == nullptr) return {};
  return {.api_version = ReadString(*member, "apiVersion"),
          .kind = ReadString(*member, "kind"),
          .name = ReadString(*member, "name")};
}

std::optional<LabelSelector> ReadSelector(const Node& map, absl::string_view name) {
  const Node* member = map.Find(name);
  if (member == nullptr) return std::nullopt;
  LabelSelector out;
  out.match_labels = ReadStringMap(*member, "matchLabels");
  if (const Node* expressions = member->Find("matchExpressions")) {
    for (const Node& expression : expressions->items) {
      out.match_expressions.push_back({.key = ReadString(expression, "key"),
                                       .op = ReadString(expression, "operator"),
                                       .values = ReadStrings(expression, "values")});
    }
  }
  return out;
}

ObjectMeta ReadObjectMeta(const Node& object) {
  ObjectMeta out;
  const Node* metadata = object.Find("metadata");
  if (metadata == nullptr) return out;
  out.name = ReadString(*metadata, "name");
  out.generate_name = ReadString(*metadata, "generateName");
  out.ns = ReadString(*metadata, "namespace");
  out.uid = ReadString(*metadata, "uid");
  out.resource_version = ReadString(*metadata, "resourceVersion");
  out.generation = ReadOptionalInt64(*metadata, "generation").value_or(0);
  out.labels = ReadStringMap(*metadata, "labels");
  out.annotations = ReadStringMap(*metadata, "annotations");
  out.finalizers = ReadStrings(*metadata, "finalizers");
  if (const Node* owners = metadata->Find("ownerReferences")) {
    for (const Node& owner : owners->items) {
      const Node* controller = owner.Find("controller");
      out.owner_references.push_back({.api_version = ReadString(owner, "apiVersion"),
                                      .kind = ReadString(owner, "kind"),
                                      .name = ReadString(owner, "name"),
                                      .uid = ReadString(owner, "uid"),
                                      .controller = controller != nullptr && controller->boolean});
    }
  }
  if (const Node* managed = metadata->Find("managedFields")) {
    for (const Node& entry : managed->items) {
      out.managed_fields.push_back({.manager = ReadString(entry, "manager"),
                                    .operation = ReadString(entry, "operation"),
                                    .fields_type = ReadString(entry, "fieldsType"),
                                    .subresource = ReadString(entry, "subresource")});
    }
  }
  return out;
}

HpaBehavior ReadBehavior(const Node& behavior, absl::string_view up, absl::string_view down,
                         bool internal_names) {
  HpaBehavior out;
  if (const Node* rules = behavior.Find(up)) out.scale_up = ReadRules(*rules, internal_names);
  if (const Node* rules = behavior.Find(down)) out.scale_down = ReadRules(*rules, internal_names);
  return out;
}

std::vector<Condition> ReadConditions(const Node& list) {
  std::vector<Condition> out;
  for (const Node& item : list.items) {
    const absl::string_view status = item.FindText("status");
    out.push_back({.type = ReadString(item, "type"),
                   .status = status == "True"    ? ConditionStatus::kTrue
                             : status == "False" ? ConditionStatus::kFalse
                                                 : ConditionStatus::kUnknown,
                   .reason = ReadString(item, "reason"),
                   .message = ReadString(item, "message"),
                   .last_transition_time = ReadTime(item, "lastTransitionTime")});
  }
  return out;
}

MetricType ParseMetricType(absl::string_view text) {
  for (const MetricType type : {MetricType::kResource, MetricType::kContainerResource,
                                MetricType::kPods, MetricType::kObject, MetricType::kExternal}) {
    if (text == MetricTypeName(type)) return type;
  }
  return MetricType::kUnknown;
}

}  // namespace flyball::scaler
