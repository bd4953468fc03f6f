#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kube/objects/api_version.h"
#include "kube/objects/label_syntax.h"
#include "scaler/spec/v2.h"

namespace flyball::scaler {
namespace {

constexpr int32_t kMaxPeriodSeconds = 1800;
constexpr int32_t kMaxStabilizationWindowSeconds = 3600;

std::string At(absl::string_view path, absl::string_view name) {
  return absl::StrCat(path, ".", name);
}

void CheckPathSegment(absl::string_view text, const std::string& path, absl::string_view if_empty,
                      FieldErrors& errors) {
  if (text.empty()) errors.Required(path, if_empty);
  if (text == "." || text == "..") errors.Invalid(path, absl::StrCat("may not be '", text, "'"));
  for (const absl::string_view part : {"/", "%"}) {
    if (absl::StrContains(text, part)) {
      errors.Invalid(path, absl::StrCat("may not contain '", part, "'"));
    }
  }
}

void CheckContainerResource(absl::string_view text, const std::string& path, kube::LabelRules rules,
                            FieldErrors& errors) {
  static constexpr absl::string_view kStandard =
      "cpu memory ephemeral-storage requests.cpu requests.memory requests.ephemeral-storage "
      "limits.cpu limits.memory limits.ephemeral-storage pods resourcequotas services "
      "replicationcontrollers secrets configmaps persistentvolumeclaims storage requests.storage "
      "services.nodeports services.loadbalancers";
  const std::vector<std::string> problems = kube::LabelKeyProblems(text, rules);
  errors.Invalid(path, problems);
  if (absl::StrContains(text, '/')) {
    const bool native = absl::StrContains(text, "kubernetes.io/");
    const bool extended = !absl::StartsWith(text, "requests.") &&
                          kube::LabelKeyProblems(absl::StrCat("requests.", text)).empty();
    if (!native && !extended) {
      errors.Invalid(path, "doesn't follow extended resource name standard");
    }
    return;
  }
  const std::vector<absl::string_view> standard = absl::StrSplit(kStandard, ' ');
  if (problems.empty() && !absl::StartsWith(text, "hugepages-") &&
      !absl::StartsWith(text, "requests.hugepages-") &&
      std::find(standard.begin(), standard.end(), text) == standard.end()) {
    errors.Invalid(path, "must be a standard resource type or fully qualified");
  }
  if (text != "cpu" && text != "memory" && text != "ephemeral-storage" &&
      !absl::StartsWith(text, "hugepages-")) {
    errors.Invalid(path, "must be a standard resource for containers");
  }
}

void ValidateReference(const ObjectReference& reference, const std::string& path,
                       bool allow_empty_group, FieldErrors& errors) {
  CheckPathSegment(reference.kind, At(path, "kind"), "", errors);
  CheckPathSegment(reference.name, At(path, "name"), "", errors);
  const absl::StatusOr<kube::ApiVersion> version = kube::ApiVersion::Parse(reference.api_version);
  if (!version.ok()) {
    errors.Invalid(At(path, "apiVersion"), std::string(version.status().message()));
  } else if (!allow_empty_group && version->group.empty()) {
    errors.Invalid(At(path, "apiVersion"), "apiVersion must specify API group");
  }
}

void ValidateTarget(const HpaTarget& target, const std::string& path, FieldErrors& errors) {
  if (target.type.empty()) errors.Required(At(path, "type"), "must specify a metric target type");
  if (target.type != "Utilization" && target.type != "Value" && target.type != "AverageValue") {
    errors.Invalid(At(path, "type"), "must be either Utilization, Value, or AverageValue");
  }
  if (target.value.has_value() && target.value->Sign() != 1) {
    errors.Invalid(At(path, "value"), "must be positive");
  }
  if (target.average_value.has_value() && target.average_value->Sign() != 1) {
    errors.Invalid(At(path, "averageValue"), "must be positive");
  }
  if (target.average_utilization.value_or(1) < 1) {
    errors.Invalid(At(path, "averageUtilization"), "must be greater than 0");
  }
}

// The parts that object, pods and external sources share.
std::string ValidateSeriesSource(const HpaSource& source, const std::string& path,
                                 FieldErrors& errors) {
  CheckPathSegment(source.metric_name, At(path, "metric.name"), "must specify a metric name",
                   errors);
  std::string target = At(path, "target");
  ValidateTarget(source.target, target, errors);
  return target;
}

void ValidateObjectSource(const HpaSource& source, const std::string& path,
                          kube::LabelRules /*rules*/, FieldErrors& errors) {
  ValidateReference(source.described_object, At(path, "describedObject"), true, errors);
  const std::string target = ValidateSeriesSource(source, path, errors);
  if (!source.target.value.has_value() && !source.target.average_value.has_value()) {
    errors.Required(At(target, "averageValue"), "must set either a target value or averageValue");
  }
}

void ValidateExternalSource(const HpaSource& source, const std::string& path,
                            kube::LabelRules /*rules*/, FieldErrors& errors) {
  const std::string target = ValidateSeriesSource(source, path, errors);
  const bool value = source.target.value.has_value();
  const bool average = source.target.average_value.has_value();
  if (!value && !average) {
    errors.Required(At(target, "averageValue"),
                    "must set either a target value for metric or a per-pod target");
  }
  if (value && average) {
    errors.Forbidden(At(target, "value"),
                     "may not set both a target value for metric and a per-pod target");
  }
}

void ValidatePodsSource(const HpaSource& source, const std::string& path,
                        kube::LabelRules /*rules*/, FieldErrors& errors) {
  const std::string target = ValidateSeriesSource(source, path, errors);
  if (!source.target.average_value.has_value()) {
    errors.Required(At(target, "averageValue"), "must specify a positive target averageValue");
  }
}

void ValidateResourceSource(const HpaSource& source, const std::string& path,
                            kube::LabelRules /*rules*/, FieldErrors& errors) {
  if (source.name.empty()) errors.Required(At(path, "name"), "must specify a resource name");
  const std::string target = At(path, "target");
  ValidateTarget(source.target, target, errors);
  const bool utilization = source.target.average_utilization.has_value();
  const bool average = source.target.average_value.has_value();
  if (!utilization && !average) {
    errors.Required(At(target, "averageUtilization"),
                    "must set either a target raw value or a target utilization");
  }
  if (utilization && average) {
    errors.Forbidden(At(target, "averageValue"),
                     "may not set both a target raw value and a target utilization");
  }
}

void ValidateContainerResourceSource(const HpaSource& source, const std::string& path,
                                     kube::LabelRules rules, FieldErrors& errors) {
  if (!source.name.empty()) CheckContainerResource(source.name, At(path, "name"), rules, errors);
  if (source.container.empty()) {
    errors.Required(At(path, "container"), "must specify a container");
  } else {
    errors.Invalid(At(path, "container"), kube::DnsLabelProblems(source.container));
  }
  ValidateResourceSource(source, path, rules, errors);
}

struct SourceRule {
  absl::string_view type;
  absl::string_view block;
  std::optional<HpaSource> HpaMetric::*member;
  void (*validate)(const HpaSource&, const std::string&, kube::LabelRules, FieldErrors&);
};

// In upstream's order, since only the first block that is present is validated.
constexpr SourceRule kSources[] = {
    {"Object", "object", &HpaMetric::object, ValidateObjectSource},
    {"External", "external", &HpaMetric::external, ValidateExternalSource},
    {"Pods", "pods", &HpaMetric::pods, ValidatePodsSource},
    {"Resource", "resource", &HpaMetric::resource, ValidateResourceSource},
    {"ContainerResource", "containerResource", &HpaMetric::container_resource,
     ValidateContainerResourceSource}};

void ValidateMetric(const HpaMetric& metric, const std::string& path, kube::LabelRules rules,
                    FieldErrors& errors) {
  const SourceRule* expected = nullptr;
  std::vector<const SourceRule*> present;
  for (const SourceRule& source : kSources) {
    if (source.type == metric.type) expected = &source;
    if (!(metric.*source.member).has_value()) continue;
    if (present.empty()) {
      source.validate(*(metric.*source.member), At(path, source.block), rules, errors);
    }
    present.push_back(&source);
  }
  if (metric.type.empty()) errors.Required(At(path, "type"), "must specify a metric source type");
  if (expected == nullptr) {
    // Upstream reports it twice.
    for (int i = 0; i < 2; ++i) {
      errors.NotSupported(At(path, "type"),
                          {"ContainerResource", "External", "Object", "Pods", "Resource"});
    }
  } else if (!(metric.*expected->member).has_value()) {
    errors.Required(At(path, expected->block),
                    "must populate information for the given metric source");
  }
  if (present.size() == 1) return;
  for (const SourceRule* source : present) {
    if (source == expected) continue;
    errors.Forbidden(At(path, source->block), "must populate the given metric source only");
  }
}

void ValidateMetrics(const Hpa& hpa, const ValidationOptions& options, FieldErrors& errors) {
  bool can_wake_from_zero = options.wakes_by_trigger;
  for (size_t i = 0; i < hpa.metrics.size(); ++i) {
    ValidateMetric(hpa.metrics[i], absl::StrCat("spec.metrics[", i, "]"), options.meta.labels,
                   errors);
    can_wake_from_zero |= hpa.metrics[i].type == "Object" || hpa.metrics[i].type == "External";
  }
  if (hpa.min_replicas == 0 && !can_wake_from_zero) {
    errors.Forbidden("spec.metrics",
                     "must specify at least one Object or External metric to support scaling to "
                     "zero replicas");
  }
}

void ValidatePolicy(const HpaPolicy& policy, const std::string& path, FieldErrors& errors) {
  if (policy.type != "Pods" && policy.type != "Percent") {
    errors.NotSupported(At(path, "type"), {"Percent", "Pods"});
  }
  if (policy.value <= 0) errors.Invalid(At(path, "value"), "must be greater than zero");
  if (policy.period_seconds <= 0) {
    errors.Invalid(At(path, "periodSeconds"), "must be greater than zero");
  }
  if (policy.period_seconds > kMaxPeriodSeconds) {
    errors.Invalid(At(path, "periodSeconds"),
                   absl::StrCat("must be less than or equal to ", kMaxPeriodSeconds));
  }
}

void ValidateRules(const std::optional<HpaRules>& rules, const std::string& path,
                   FieldErrors& errors) {
  if (!rules.has_value()) return;
  const int32_t window = rules->stabilization_window_seconds.value_or(0);
  if (window < 0) {
    errors.Invalid(At(path, "stabilizationWindowSeconds"), "must be greater than or equal to zero");
  }
  if (window > kMaxStabilizationWindowSeconds) {
    errors.Invalid(At(path, "stabilizationWindowSeconds"),
                   absl::StrCat("must be less than or equal to ", kMaxStabilizationWindowSeconds));
  }
  const std::string select = rules->select_policy.value_or("Max");
  if (select != "Max" && select != "Min" && select != "Disabled") {
    errors.NotSupported(At(path, "selectPolicy"), {"Disabled", "Max", "Min"});
  }
  const std::string policies = At(path, "policies");
  if (!rules->policies.has_value() || rules->policies->empty()) {
    errors.Required(policies, "must specify at least one Policy");
  } else {
    for (size_t i = 0; i < rules->policies->size(); ++i) {
      ValidatePolicy((*rules->policies)[i], absl::StrCat(policies, "[", i, "]"), errors);
    }
  }
  if (rules->tolerance.has_value() && rules->tolerance->Sign() < 0) {
    errors.Invalid(At(path, "tolerance"), "must be greater than or equal to 0");
  }
}

void ValidateMaxReplicas(int32_t max, MaxReplicasText text, FieldErrors& errors) {
  constexpr char kPath[] = "spec.maxReplicas";
  if (max >= 1) return;
  if (text == MaxReplicasText::kInvalid) {
    errors.Invalid(kPath, "must be greater than 0");
  } else if (max < 0) {
    errors.Invalid(kPath, "must be greater than or equal to 1");
  } else {
    errors.Required(kPath,
                    text == MaxReplicasText::kRequired ? "must be set and greater than 0" : "");
  }
}

}  // namespace

void ValidateHpa(const Hpa& hpa, const ValidationOptions& options, FieldErrors& errors) {
  ValidateObjectMeta(hpa.metadata, options.meta, errors);
  if (hpa.min_replicas.has_value() && *hpa.min_replicas < options.min_replicas_lower_bound) {
    errors.Invalid("spec.minReplicas", absl::StrCat("must be greater than or equal to ",
                                                    options.min_replicas_lower_bound));
  }
  ValidateMaxReplicas(hpa.max_replicas, options.max_replicas_text, errors);
  if (hpa.min_replicas.has_value() && hpa.max_replicas < *hpa.min_replicas) {
    errors.Invalid("spec.maxReplicas", "must be greater than or equal to `minReplicas`");
  }
  ValidateReference(hpa.scale_target_ref, "spec.scaleTargetRef", options.allow_core_group_target,
                    errors);
  ValidateMetrics(hpa, options, errors);
  if (hpa.behavior.has_value()) {
    ValidateRules(hpa.behavior->scale_up, "spec.behavior.scaleUp", errors);
    ValidateRules(hpa.behavior->scale_down, "spec.behavior.scaleDown", errors);
  }
}

}  // namespace flyball::scaler
