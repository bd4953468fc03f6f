#include "scaler/spec/hpa_parser.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "scaler/spec/canonical.h"
#include "scaler/spec/hpa.h"
#include "scaler/spec/hpa_read.h"
#include "scaler/spec/validation.h"

namespace flyball::scaler {
namespace {

const Shape kTypeMetaShape{.fields = {{"kind", &kStringShape}, {"apiVersion", &kStringShape}}};

absl::StatusOr<Hpa> Decode(const Node& document) {
  // The server finds out what it was sent before it decodes it, and there without regard to case.
  absl::StatusOr<Node> meta = Conform(document, kTypeMetaShape, KeyMatch::kIgnoreCase);
  if (!meta.ok()) return meta.status();
  const absl::string_view kind = meta->FindText("kind");
  const absl::string_view version = meta->FindText("apiVersion");
  if (kind.empty()) return absl::InvalidArgumentError("field `kind` is missing");
  if (version.empty()) return absl::InvalidArgumentError("field `apiVersion` is missing");
  if (kind != "HorizontalPodAutoscaler") {
    return absl::InvalidArgumentError(
        absl::StrCat("expected kind HorizontalPodAutoscaler, got ", kind));
  }
  if (version == "autoscaling/v1") return DecodeV1(document);
  if (version == "autoscaling/v2") {
    absl::StatusOr<Hpa> hpa = DecodeV2(document);
    if (hpa.ok()) ApplyV2Defaults(*hpa);
    return hpa;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "expected apiVersion autoscaling/v2 or autoscaling/v1, got ", version,
      absl::StrContains(version, "v2beta") ? " (no longer served since Kubernetes 1.26)" : ""));
}

// The annotations that carry fields between versions never reach the stored object.
void DropRoundTripAnnotations(Hpa& hpa) {
  for (const char* name : {"metrics", "behavior", "current-metrics", "conditions",
                           "scale-up-tolerance", "scale-down-tolerance"}) {
    hpa.metadata.annotations.erase(absl::StrCat("autoscaling.alpha.kubernetes.io/", name));
  }
}

void DropGatedFields(const FeatureGates& gates, Hpa& hpa) {
  if (gates.hpa_configurable_tolerance || !hpa.behavior.has_value()) return;
  for (auto* rules : {&hpa.behavior->scale_up, &hpa.behavior->scale_down}) {
    if (rules->has_value()) (*rules)->tolerance.reset();
  }
}

TargetType ParseTargetType(absl::string_view text) {
  if (text == "Utilization") return TargetType::kUtilization;
  if (text == "Value") return TargetType::kValue;
  if (text == "AverageValue") return TargetType::kAverageValue;
  return TargetType::kOther;
}

// The block that the type names is the one that counts.
const std::optional<HpaSource>& SourceOf(const HpaMetric& metric, MetricType type) {
  static const std::optional<HpaSource> kNone;
  switch (type) {
    case MetricType::kObject:
      return metric.object;
    case MetricType::kPods:
      return metric.pods;
    case MetricType::kResource:
      return metric.resource;
    case MetricType::kContainerResource:
      return metric.container_resource;
    case MetricType::kExternal:
      return metric.external;
    case MetricType::kUnknown:
      break;
  }
  return kNone;
}

MetricSpec CompileMetric(const HpaMetric& metric) {
  MetricSpec out;
  out.type = ParseMetricType(metric.type);
  out.type_text = metric.type;
  const std::optional<HpaSource>& source = SourceOf(metric, out.type);
  if (!source.has_value()) return out;
  out.resource = source->name;
  out.container = source->container;
  out.metric = MakeMetricIdentifier(source->metric_name, source->selector);
  out.described_object = source->described_object;
  out.target.type = ParseTargetType(source->target.type);
  if (source->target.value.has_value()) out.target.value = MakeTargetAmount(*source->target.value);
  if (source->target.average_value.has_value()) {
    out.target.average_value = MakeTargetAmount(*source->target.average_value);
  }
  out.target.average_utilization = source->target.average_utilization;
  return out;
}

ScalingRules CompileRules(const HpaRules& rules) {
  ScalingRules out;
  out.stabilization_window_seconds = rules.stabilization_window_seconds;
  const std::string select = rules.select_policy.value_or("Max");
  // Upstream takes any other word as Max.
  out.select_policy = select == "Disabled" ? SelectPolicy::kDisabled
                      : select == "Min"    ? SelectPolicy::kMin
                                           : SelectPolicy::kMax;
  for (const HpaPolicy& policy : rules.policies.value_or(std::vector<HpaPolicy>{})) {
    out.policies.push_back({.type = policy.type == "Pods"      ? PolicyType::kPods
                                    : policy.type == "Percent" ? PolicyType::kPercent
                                                               : PolicyType::kOther,
                            .value = policy.value,
                            .period_seconds = policy.period_seconds});
  }
  if (rules.tolerance.has_value()) out.tolerance = MakeRuleTolerance(*rules.tolerance);
  return out;
}

Autoscaler Compile(const Hpa& hpa) {
  Autoscaler out;
  out.ns = hpa.metadata.ns;
  out.name = hpa.metadata.name;
  out.uid = hpa.metadata.uid;
  out.resource_version = hpa.metadata.resource_version;
  out.generation = hpa.metadata.generation;
  out.labels = hpa.metadata.labels;
  out.annotations = hpa.metadata.annotations;
  out.scale_target = hpa.scale_target_ref;
  out.min_replicas = hpa.min_replicas;
  out.max_replicas = hpa.max_replicas;
  for (const HpaMetric& metric : hpa.metrics) out.metrics.push_back(CompileMetric(metric));
  if (hpa.behavior.has_value()) {
    out.behavior =
        Behavior{.scale_up = CompileRules(hpa.behavior->scale_up.value_or(HpaRules{})),
                 .scale_down = CompileRules(hpa.behavior->scale_down.value_or(HpaRules{}))};
  }
  out.status = hpa.status;
  return out;
}

}  // namespace

AdmissionResult Admit(const Node& document, const AdmitOptions& options) {
  AdmissionResult result;
  absl::StatusOr<Hpa> hpa = Decode(document);
  if (!hpa.ok()) {
    result.decode_error = std::string(hpa.status().message());
    return result;
  }
  DropRoundTripAnnotations(*hpa);
  if (!options.skip_admission) {
    DropGatedFields(options.gates, *hpa);
    FieldErrors errors;
    ValidateHpa(*hpa,
                {.min_replicas_lower_bound = options.gates.hpa_scale_to_zero ? 0 : 1,
                 .allow_core_group_target = hpa->scale_target_ref.kind == "ReplicationController"},
                errors);
    result.errors = std::move(errors).Sorted();
  }
  // The object is stored as v2 and read back: what v1 left open is filled now, after validation.
  ApplyV2Defaults(*hpa);
  result.canonical_spec_json = CanonicalSpecJson(*hpa);
  result.autoscaler = Compile(*hpa);
  return result;
}

AdmissionResult Admit(absl::string_view json_or_yaml, const AdmitOptions& options) {
  absl::StatusOr<std::vector<Node>> documents =
      ParseDocuments(json_or_yaml, {.max_nodes = 100'000});
  AdmissionResult result;
  if (!documents.ok()) {
    result.decode_error = std::string(documents.status().message());
  } else if (documents->size() != 1) {
    result.decode_error = absl::StrCat("expected one object, got ", documents->size());
  }
  if (!result.decode_error.empty()) return result;
  return Admit(documents->front(), options);
}

}  // namespace flyball::scaler
