#include "convert/convert_scaled_object.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "convert/documents.h"
#include "convert/manifests.h"
#include "kube/objects/json_members.h"
#include "scaler/spec/document.h"
#include "scaler/spec/document_json.h"
#include "scaler/spec/own_spec.h"
#include "scaler/triggers/types/trigger_types.h"

namespace flyball::convert {
namespace {

using Json = nlohmann::ordered_json;
using kube::ItemsOf;
using kube::MemberOf;
using kube::TextOf;
using scaler::Node;

constexpr absl::string_view kScaledObject = "ScaledObject";
constexpr absl::string_view kAnnotations = "autoscaling.keda.sh/";
// KEDA's defaults.
constexpr int64_t kMinReplicas = 0, kMaxReplicas = 100, kPollingSeconds = 30;
// How often the HPA of a ScaledObject is decided.
constexpr int64_t kSyncSeconds = 15;

// NAMESPACE/NAME of a TriggerAuthentication -> its object.
using Authentications = std::map<std::string, Json>;

std::string KeyOf(const Json& object, const std::string& name) {
  return absl::StrCat(TextOf(MemberOf(object, "metadata"), "namespace"), "/", name);
}

class ScaledObjectConverter {
 public:
  ScaledObjectConverter(const Node& node, const Authentications& authentications,
                        Conversion& conversion, absl::string_view file)
      : object_(scaler::JsonOf<Json>(node)),
        authentications_(authentications),
        out_(file, node, conversion) {}

  void Convert(const ConvertOptions& options) {
    const std::string name = TextOf(MemberOf(object_, "metadata"), "name");
    out_.Remark(
        "Pause or delete the ScaledObject before this one acts: both would write one scale.");
    out_.AddAutoscaler({{"metadata", MetadataOf(object_, name, {})}, {"spec", Spec()}},
                       options.mode);
    out_.Finish(absl::StrCat(kScaledObject, " ", name));
  }

 private:
  int64_t NumberOr(const char* name, int64_t otherwise) {
    const Json& value = MemberOf(MemberOf(object_, "spec"), name);
    if (value.is_null()) return otherwise;
    if (value.is_number_integer()) return value.get<int64_t>();
    out_.Refuse(absl::StrCat("spec.", name), "expected a whole number");
    return otherwise;
  }

  Json Spec() {
    const Json& spec = MemberOf(object_, "spec");
    const Json& target = MemberOf(spec, "scaleTargetRef");
    const auto or_else = [&](const char* field, const char* otherwise) {
      const std::string text = TextOf(target, field);
      return text.empty() ? std::string(otherwise) : text;
    };
    Json out = {{"scaleTargetRef",
                 {{"apiVersion", or_else("apiVersion", "apps/v1")},
                  {"kind", or_else("kind", "Deployment")},
                  {"name", TextOf(target, "name")}}},
                {"minReplicas", NumberOr("minReplicaCount", kMinReplicas)},
                {"maxReplicas", NumberOr("maxReplicaCount", kMaxReplicas)}};
    const int64_t polling = NumberOr("pollingInterval", kPollingSeconds);
    if (polling > 0 && polling < kSyncSeconds) {
      out["cadence"] = {{"interval", absl::StrCat(polling, "s")}};
    }
    if (spec.contains("cooldownPeriod")) {
      out["cooldownPeriod"] = NumberOr("cooldownPeriod", 0);
    }
    AddFallback(MemberOf(spec, "fallback"), out);
    AddAdvanced(MemberOf(spec, "advanced"), out);
    AddPause(out);
    RefuseIdle(spec);
    for (size_t i = 0; i < ItemsOf(spec, "triggers").size(); ++i) AddTrigger(i, out);
    return out;
  }

  void RefuseIdle(const Json& spec) {
    if (!MemberOf(spec, "idleReplicaCount").is_null()) {
      out_.Refuse(
          "spec.idleReplicaCount",
          "there is no idle count: minReplicas of 0 sleeps, and schedules set other bounds");
    }
    if (NumberOr("initialCooldownPeriod", 0) > 0) {
      out_.NotCarriedOver("spec.initialCooldownPeriod", "cooldownPeriod counts from the start");
    }
  }

  void AddFallback(const Json& fallback, Json& out) {
    if (!fallback.is_object()) return;
    const std::string behavior = TextOf(fallback, "behavior");
    if (!behavior.empty() && behavior != "static") {
      return out_.Refuse("spec.fallback.behavior", "only static can be carried over");
    }
    out["fallback"] = {{"failureThreshold", MemberOf(fallback, "failureThreshold")},
                       {"replicas", MemberOf(fallback, "replicas")}};
  }

  void AddAdvanced(const Json& advanced, Json& out) {
    const Json& hpa = MemberOf(advanced, "horizontalPodAutoscalerConfig");
    if (MemberOf(hpa, "behavior").is_object()) out["behavior"] = hpa["behavior"];
    if (!MemberOf(advanced, "scalingModifiers").is_null()) {
      out_.Refuse(
          "spec.advanced.scalingModifiers",
          "there are no formulas: one PromQL query of a prometheus trigger can do the same");
    }
    if (kube::IsTrue(advanced, "restoreToOriginalReplicaCount")) {
      out_.NotCarriedOver("spec.advanced.restoreToOriginalReplicaCount");
    }
  }

  void AddPause(Json& out) {
    const Json& annotations = MemberOf(MemberOf(object_, "metadata"), "annotations");
    if (!annotations.is_object()) return;
    for (const auto& [key, value] : annotations.items()) {
      if (!absl::StartsWith(key, kAnnotations)) continue;
      const bool paused = key == absl::StrCat(kAnnotations, "paused");
      if (!paused) {
        out_.NotCarriedOver(absl::StrCat("annotation ", key));
      } else if (!value.is_string() || value != "false") {
        out["paused"] = true;
      }
    }
  }

  void AddTrigger(size_t index, Json& out) {
    const Json& trigger = ItemsOf(MemberOf(object_, "spec"), "triggers")[index];
    const std::string field = absl::StrCat("spec.triggers[", index, "]");
    const std::string type = TextOf(trigger, "type");
    if (type == "cpu" || type == "memory") return AddResource(trigger, field, out);
    const auto& types = scaler::TriggerTypeNames();
    if (!absl::c_linear_search(types, type)) {
      return out_.Refuse(absl::StrCat(field, ".type"),
                         absl::StrCat("there is no ", type, " here; there are ",
                                      absl::StrJoin(types, ", "), ", cpu and memory"));
    }
    Json own = {{"type", type}};
    for (const char* same : {"name", "metricType", "metadata"}) {
      if (!MemberOf(trigger, same).is_null()) own[same] = trigger[same];
    }
    AddSecrets(trigger, field, own);
    out["triggers"].push_back(std::move(own));
  }

  // Triggers of these types become metrics, which, as in KEDA, never wake a target.
  void AddResource(const Json& trigger, const std::string& field, Json& out) {
    const Json& metadata = MemberOf(trigger, "metadata");
    std::string target = TextOf(trigger, "metricType");
    if (target.empty()) target = TextOf(metadata, "type");
    Json value = TextOf(metadata, "value");
    int64_t percent = 0;
    if (target == "Utilization") {
      if (!absl::SimpleAtoi(value.get<std::string>(), &percent)) {
        return out_.Refuse(field + ".metadata.value", "expected whole percents");
      }
      value = percent;
    } else if (target != "AverageValue") {
      return out_.Refuse(field + ".metricType", "expected Utilization or AverageValue");
    }
    const std::string container = TextOf(metadata, "containerName");
    Json source = {
        {"name", TextOf(trigger, "type")},
        {"target",
         {{"type", target},
          {target == "Utilization" ? "averageUtilization" : "averageValue", std::move(value)}}}};
    if (!container.empty()) source["container"] = container;
    out["metrics"].push_back(
        {{"type", container.empty() ? "Resource" : "ContainerResource"},
         {container.empty() ? "resource" : "containerResource", std::move(source)}});
  }

  void AddSecrets(const Json& trigger, const std::string& field, Json& own) {
    const Json& reference = MemberOf(trigger, "authenticationRef");
    if (!reference.is_object()) return;
    const std::string name = TextOf(reference, "name");
    const auto found = authentications_.find(KeyOf(object_, name));
    if (TextOf(reference, "kind") == "ClusterTriggerAuthentication" ||
        found == authentications_.end()) {
      return out_.Refuse(
          field + ".authenticationRef",
          absl::StrCat("give the TriggerAuthentication ", name,
                       " in the same file; those of the cluster can't be carried over"));
    }
    const Json& spec = MemberOf(found->second, "spec");
    for (const auto& [source, unused] : spec.items()) {
      if (source == "secretTargetRef") continue;
      return out_.Refuse(field + ".authenticationRef",
                         absl::StrCat("TriggerAuthentication ", name, " has ", source,
                                      ", and only secretTargetRef can be carried over"));
    }
    for (const Json& secret : ItemsOf(spec, "secretTargetRef")) {
      own["authenticationSecretRefs"].push_back({{"parameter", TextOf(secret, "parameter")},
                                                 {"name", TextOf(secret, "name")},
                                                 {"key", TextOf(secret, "key")}});
    }
  }

  const Json object_;
  const Authentications& authentications_;
  Manifests out_;
};

}  // namespace

Conversion ConvertScaledObjects(absl::string_view file, absl::string_view text,
                                const ConvertOptions& options) {
  Conversion conversion;
  const absl::StatusOr<std::vector<Node>> documents = ReadObjects(file, text, conversion);
  if (!documents.ok()) return conversion;
  Authentications authentications;
  bool any = false;
  for (const Node& node : *documents) {
    any |= node.FindText("kind") == kScaledObject;
    if (node.FindText("kind") != "TriggerAuthentication") continue;
    Json object = scaler::JsonOf<Json>(node);
    const std::string key = KeyOf(object, TextOf(MemberOf(object, "metadata"), "name"));
    authentications[key] = std::move(object);
  }
  for (const Node& node : *documents) {
    if (node.FindText("kind") != kScaledObject) continue;
    ScaledObjectConverter(node, authentications, conversion, file).Convert(options);
  }
  if (!any) AddNothing(file, kScaledObject, conversion);
  return conversion;
}

}  // namespace flyball::convert
