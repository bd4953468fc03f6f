#include "convert/keda_settings.h"

#include <nlohmann/json.hpp>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "kube/objects/json_members.h"

namespace flyball::convert {
namespace {

using Json = nlohmann::ordered_json;
using kube::MemberOf;
using kube::TextOf;

void AddFallback(const Json& fallback, const std::string& path, Json& own, Manifests& out) {
  if (!fallback.is_object()) return;
  out.NameUnknown(fallback, path, {"behavior", "failureThreshold", "replicas"});
  const std::string behavior = TextOf(fallback, "behavior");
  if (!behavior.empty() && behavior != "static") {
    return out.Refuse(absl::StrCat(path, ".behavior"), "only static can be carried over");
  }
  for (const char* name : {"failureThreshold", "replicas"}) {
    if (MemberOf(fallback, name).is_null()) continue;
    own["fallback"][name] = out.NumberOr(fallback, path, name, 0);
  }
}

void AddAdvanced(const Json& advanced, const std::string& path, Json& own, Manifests& out) {
  out.NameUnknown(
      advanced, path,
      {"horizontalPodAutoscalerConfig", "restoreToOriginalReplicaCount", "scalingModifiers"});
  const Json& hpa = MemberOf(advanced, "horizontalPodAutoscalerConfig");
  out.NameUnknown(hpa, absl::StrCat(path, ".horizontalPodAutoscalerConfig"), {"behavior"});
  if (MemberOf(hpa, "behavior").is_object()) own["behavior"] = MemberOf(hpa, "behavior");
  // KEDA writes empty ones into each object that has anything else here.
  const Json& modifiers = MemberOf(advanced, "scalingModifiers");
  if (absl::c_any_of(modifiers, [](const Json& each) { return each != ""; })) {
    out.Refuse(absl::StrCat(path, ".scalingModifiers"),
               "there are no formulas: one PromQL query of a prometheus trigger can do the same");
  }
  if (kube::IsTrue(advanced, "restoreToOriginalReplicaCount")) {
    out.NotCarriedOver(absl::StrCat(path, ".restoreToOriginalReplicaCount"));
  }
}

}  // namespace

void AddKedaSettings(const Json& spec, const std::string& path, Json& own, Manifests& out) {
  const std::string advanced = absl::StrCat(path, ".advanced");
  out.MadeFrom("spec.fallback", absl::StrCat(path, ".fallback"));
  out.MadeFrom("spec.behavior", absl::StrCat(advanced, ".horizontalPodAutoscalerConfig.behavior"));
  AddFallback(MemberOf(spec, "fallback"), absl::StrCat(path, ".fallback"), own, out);
  AddAdvanced(MemberOf(spec, "advanced"), advanced, own, out);
}

}  // namespace flyball::convert
