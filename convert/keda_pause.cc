#include "convert/keda_pause.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "base/go/number.h"
#include "kube/objects/json_members.h"

namespace flyball::convert {
namespace {

using Json = nlohmann::ordered_json;
using kube::MemberOf;

constexpr char kPaused[] = "autoscaling.keda.sh/paused";
constexpr char kPausedReplicas[] = "autoscaling.keda.sh/paused-replicas";
constexpr char kPausedScaleIn[] = "autoscaling.keda.sh/paused-scale-in";
constexpr char kPausedScaleOut[] = "autoscaling.keda.sh/paused-scale-out";
constexpr char kForceActivation[] = "autoscaling.keda.sh/force-activation";

// As in KEDA, an annotation whose value is no bool counts as true.
bool IsOn(const Json& annotations, const char* key) {
  const auto found = annotations.find(key);
  if (found == annotations.end()) return false;
  return go::ParseBool(found->is_string() ? found->get<std::string>() : found->dump())
      .value_or(true);
}

void Disable(const char* direction, Json& spec) {
  Json& rules = spec["behavior"][direction];
  if (rules.is_null()) rules = Json::object();
  if (rules.is_object()) rules["selectPolicy"] = "Disabled";
}

void Pause(const char* annotation, const char* why, Json& spec, Manifests& out) {
  spec["paused"] = true;
  out.Remark(absl::StrCat("It is paused for the annotation ", annotation, why, "."));
}

void KeepAwake(const char* annotation, Json& spec, Manifests& out) {
  if (spec["minReplicas"] != 0) return;
  spec["minReplicas"] = 1;
  out.Remark(absl::StrCat("minReplicas was 0; it is 1 here for the annotation ", annotation,
                          ", so that the target never sleeps."));
}

}  // namespace

void AddKedaPause(const Json& object, Json& spec, Manifests& out) {
  const Json& annotations = MemberOf(MemberOf(object, "metadata"), "annotations");
  if (annotations.contains(kPausedReplicas)) {
    Pause(kPausedReplicas, ", at the replicas that the target has", spec, out);
  }
  if (IsOn(annotations, kPaused)) Pause(kPaused, "", spec, out);
  if (IsOn(annotations, kPausedScaleOut)) {
    Disable("scaleUp", spec);
    if (spec["minReplicas"] == 0) {
      Pause(kPausedScaleOut, ": with minReplicas of 0 a target at zero would wake", spec, out);
    }
  }
  if (IsOn(annotations, kPausedScaleIn)) {
    Disable("scaleDown", spec);
    KeepAwake(kPausedScaleIn, spec, out);
  }
  if (IsOn(annotations, kForceActivation)) KeepAwake(kForceActivation, spec, out);
}

void NameInitialCooldown(const Json& object, const std::string& of, Manifests& out) {
  if (out.NumberOr(MemberOf(object, "spec"), of + "spec", "initialCooldownPeriod", 0) > 0) {
    out.NotCarriedOver(of + "spec.initialCooldownPeriod",
                       "a new Autoscaler with minReplicas of 0 whose triggers are inactive goes to "
                       "zero at its first decision; keep minReplicas at 1 at first");
  }
}

void NameRunningCooldown(const Json& object, const std::string& of, const Json& spec,
                         Manifests& out) {
  const bool sleeps = MemberOf(spec, "minReplicas") == 0 && MemberOf(spec, "cooldownPeriod") != 0;
  if (sleeps && !MemberOf(MemberOf(object, "status"), "lastActiveTime").is_null()) {
    out.NotCarriedOver(of + "status.lastActiveTime",
                       "a cooldown that is running ends with the first decision; keep minReplicas "
                       "at 1 until it is over");
  }
}

const std::set<std::string>& KedaPauseAnnotations() {
  static const auto* const keys = new std::set<std::string>{
      kPaused, kPausedReplicas, kPausedScaleIn, kPausedScaleOut, kForceActivation};
  return *keys;
}

}  // namespace flyball::convert
