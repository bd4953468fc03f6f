#include "scaler/spec/hpa/admission.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "scaler/spec/decode.h"
#include "scaler/spec/v2.h"
#include "scaler/spec/v2_json.h"

namespace flyball::scaler {
namespace {

absl::StatusOr<Hpa> DecodeHpa(const Node& document, const Dialect& dialect) {
  TypeMeta type;
  // Before it decodes an object, the API server looks for its kind and version, and does that
  // without regard to case.
  RETURN_IF_ERROR(Decode(document, KeyMatch::kIgnoreCase, type, kTypeMetaFields));
  const std::string& version = type.api_version;
  if (type.kind.empty()) return absl::InvalidArgumentError("field `kind` is missing");
  if (version.empty()) return absl::InvalidArgumentError("field `apiVersion` is missing");
  if (type.kind != "HorizontalPodAutoscaler") {
    return absl::InvalidArgumentError(
        absl::StrCat("expected kind HorizontalPodAutoscaler, got ", type.kind));
  }
  if (version == "autoscaling/v1")
    return DecodeV1(document, /*zero_is_no_value=*/dialect.minor >= 36);
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

// The API server does not store an empty list, so that the default takes its place when the object
// is read back. Validation refuses such a list, so this matters only with skip_admission, or if a
// refused object is explained. The recorded vectors of 1.34 keep the list as it was sent.
void DropEmptyPolicies(Hpa& hpa) {
  if (!hpa.behavior.has_value()) return;
  for (auto* rules : {&hpa.behavior->scale_up, &hpa.behavior->scale_down}) {
    if (rules->has_value() && (*rules)->policies.has_value() && (*rules)->policies->empty()) {
      (*rules)->policies.reset();
    }
  }
}

void DropGatedFields(const FeatureGates& gates, Hpa& hpa) {
  if (gates.configurable_tolerance || !hpa.behavior.has_value()) return;
  for (auto* rules : {&hpa.behavior->scale_up, &hpa.behavior->scale_down}) {
    if (rules->has_value()) (*rules)->tolerance.reset();
  }
}

ValidationOptions ValidationOf(const Dialect& dialect, const Hpa& hpa) {
  ValidationOptions out;
  out.meta = {.labels = dialect.minor >= 35 ? kube::LabelRules::k1_35 : kube::LabelRules::k1_34,
              .names_entries = dialect.minor >= 37};
  if (dialect.minor >= 36) out.max_replicas_text = MaxReplicasText::kRequired;
  if (dialect.minor >= 37 && dialect.gates.declarative_validation_beta) {
    out.max_replicas_text = MaxReplicasText::kRequiredAlone;
  }
  out.min_replicas_lower_bound = dialect.gates.scale_to_zero ? 0 : 1;
  out.allow_core_group_target = hpa.scale_target_ref.kind == "ReplicationController";
  return out;
}

}  // namespace

AdmitOptions AdmitAll() {
  // 1.36 admits all that 1.37 does, and its messages about what it refuses say more.
  return {.dialect = DialectOf(ServerVersion{.minor = 36, .emulated_minor = {}},
                               {{"HPAScaleToZero", true}})};
}

AdmissionResult Admit(const Node& document, const AdmitOptions& options) {
  absl::StatusOr<Hpa> hpa = DecodeHpa(document, options.dialect);
  if (!hpa.ok()) return Undecodable<AdmissionResult>(hpa.status());
  AdmissionResult result;
  DropRoundTripAnnotations(*hpa);
  if (!options.skip_admission) {
    if (options.dialect.gates.generation) hpa->metadata.generation = 1;
    DropGatedFields(options.dialect.gates, *hpa);
    FieldErrors errors;
    ValidateHpa(*hpa, ValidationOf(options.dialect, *hpa), errors);
    // Since 1.37 the errors pass through declarative validation, which drops repeated ones.
    if (options.dialect.minor >= 37) errors.DropRepeats();
    result.errors = std::move(errors).Sorted();
  }
  // The object is stored as v2 and read back: what v1 left open is filled now, after validation.
  if (options.dialect.minor >= 35) DropEmptyPolicies(*hpa);
  ApplyV2Defaults(*hpa);
  result.canonical_spec_json = CanonicalSpecJson(*hpa);
  result.autoscaler = CompileHpa(*hpa);
  return result;
}

AdmissionResult Admit(absl::string_view json_or_yaml, const AdmitOptions& options) {
  const absl::StatusOr<Node> document = ParseOneObject(json_or_yaml);
  return document.ok() ? Admit(*document, options)
                       : Undecodable<AdmissionResult>(document.status());
}

}  // namespace flyball::scaler
