#include "convert/convert.h"

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "base/go/number.h"
#include "convert/documents.h"
#include "convert/keda_pause.h"
#include "convert/keda_settings.h"
#include "convert/manifests.h"
#include "kube/objects/json_members.h"
#include "kube/objects/quantity.h"
#include "scaler/spec/document.h"
#include "scaler/spec/own_spec.h"
#include "scaler/triggers/trigger.h"
#include "scaler/triggers/types/trigger_types.h"

namespace flyball::convert {
namespace {

using Json = nlohmann::ordered_json;
using kube::ItemsOf;
using kube::MemberOf;
using kube::TextOf;
using scaler::Node;

constexpr absl::string_view kScaledObject = "ScaledObject";
// KEDA's defaults.
constexpr int64_t kMinReplicas = 0, kMaxReplicas = 100, kPollingSeconds = 30;
// How often the HPA of a ScaledObject is decided.
constexpr int64_t kSyncSeconds = 15;

// NAMESPACE/NAME of a TriggerAuthentication -> its object.
using Authentications = std::map<std::string, Json>;

class ScaledObjectConverter {
 public:
  ScaledObjectConverter(const Node& node, const Authentications& authentications,
                        Conversion& conversion, absl::string_view file)
      : object_(ObjectOf(node)), authentications_(authentications), out_(file, node, conversion) {}

  void Convert(const ConvertOptions& options) {
    const Json& metadata = MemberOf(object_, "metadata");
    const std::string name = TextOf(metadata, "name");
    out_.Remark(
        "Pause or delete the ScaledObject before this one acts: both would write one scale.");
    // Those that are not carried over are the API server's and KEDA's own.
    out_.NameUnknown(metadata, "metadata",
                     {"annotations", "creationTimestamp", "finalizers", "generation", "labels",
                      "managedFields", "name", "namespace", "resourceVersion", "uid"});
    out_.NameAnnotations(object_, KedaPauseAnnotations());
    out_.AddAutoscaler({{"metadata", MetadataOf(object_, name, {"keda.sh"})}, {"spec", Spec()}},
                       options.mode);
    out_.Finish(absl::StrCat(kScaledObject, " ", name));
  }

 private:
  int64_t NumberOr(const char* name, int64_t otherwise) {
    return out_.NumberOr(MemberOf(object_, "spec"), "spec", name, otherwise);
  }

  Json Spec() {
    const Json& spec = MemberOf(object_, "spec");
    NameOthers(spec);
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
    for (const auto& [made, source] : std::vector<std::pair<const char*, const char*>>{
             {"spec.scaleTargetRef", "spec.scaleTargetRef"},
             {"spec.minReplicas", "spec.minReplicaCount"},
             {"spec.maxReplicas", "spec.maxReplicaCount"},
             {"spec.cooldownPeriod", "spec.cooldownPeriod"},
             {"spec.metrics", "spec.triggers"},
             {"spec.triggers", "spec.triggers"}}) {
      out_.MadeFrom(made, source);
    }
    AddPolling(spec, out);
    if (spec.contains("cooldownPeriod")) out["cooldownPeriod"] = NumberOr("cooldownPeriod", 0);
    AddKedaSettings(spec, "spec", out, out_);
    AddKedaPause(object_, out, out_);
    NameInitialCooldown(object_, "", out_);
    NameRunningCooldown(object_, "", out, out_);
    RefuseIdle(spec);
    for (size_t i = 0; i < ItemsOf(spec, "triggers").size(); ++i) AddTrigger(i, out);
    return out;
  }

  void NameOthers(const Json& spec) {
    out_.NameUnknown(
        spec, "spec",
        {"advanced", "cooldownPeriod", "fallback", "idleReplicaCount", "initialCooldownPeriod",
         "maxReplicaCount", "minReplicaCount", "pollingInterval", "scaleTargetRef", "triggers"});
    out_.NameUnknown(MemberOf(spec, "scaleTargetRef"), "spec.scaleTargetRef",
                     {"apiVersion", "kind", "name"});
  }

  void AddPolling(const Json& spec, Json& out) {
    const int64_t polling = NumberOr("pollingInterval", kPollingSeconds);
    if (polling > 0 && polling < kSyncSeconds) {
      out["cadence"] = {{"interval", absl::StrCat(polling, "s")}};
    } else if (polling > kSyncSeconds && spec.contains("pollingInterval")) {
      out_.NotCarriedOver("spec.pollingInterval",
                          "triggers are read for each decision, as often as the server decides");
    }
  }

  void RefuseIdle(const Json& spec) {
    if (spec.contains("idleReplicaCount")) {
      out_.Refuse(
          "spec.idleReplicaCount",
          "there is no idle count: minReplicas of 0 sleeps, and schedules set other bounds");
    }
  }

  void AddTrigger(size_t index, Json& out) {
    const Json& trigger = ItemsOf(MemberOf(object_, "spec"), "triggers")[index];
    const std::string field = absl::StrCat("spec.triggers[", index, "]");
    const std::string type = TextOf(trigger, "type");
    if (type == "cpu" || type == "memory") return AddResource(trigger, field, out);
    const auto& types = scaler::TriggerTypeNames();
    if (!absl::c_linear_search(types, type)) {
      out_.Refuse(absl::StrCat(field, ".type"),
                  absl::StrCat("there is no ", type, " here; there are ",
                               absl::StrJoin(types, ", "), ", cpu and memory"));
    }
    out_.NameUnknown(trigger, field,
                     {"authenticationRef", "metadata", "metricType", "name", "type"});
    const size_t place = out["triggers"].size();
    if (place != index) {
      out_.Remark(absl::StrCat(field, ": names of its metrics begin with s", place,
                               "-, in KEDA with s", index,
                               "-, since cpu and memory are no triggers here."));
    }
    const std::string made = absl::StrCat("spec.triggers[", place, "]");
    out_.MadeFrom(made, field);
    out_.MadeFrom(absl::StrCat(made, ".authenticationSecretRefs"), field + ".authenticationRef");
    Json own = {{"type", type}};
    for (const char* same : {"name", "metricType", "metadata"}) {
      if (trigger.contains(same)) own[same] = trigger[same];
    }
    if (type == "prometheus" || type == "metrics-api") {
      NameLongTimeout(MemberOf(trigger, "metadata"), field + ".metadata.timeout");
    }
    AddSecrets(trigger, field, own);
    out["triggers"].push_back(std::move(own));
  }

  void NameLongTimeout(const Json& metadata, const std::string& field) {
    const std::string text = TextOf(metadata, "timeout");
    int64_t milliseconds = 0;
    absl::Duration timeout;
    if (absl::SimpleAtoi(text, &milliseconds)) {
      timeout = absl::Milliseconds(milliseconds);
    } else if (!absl::ParseDuration(text, &timeout)) {
      return;
    }
    if (timeout > scaler::kMaxTriggerTimeout) {
      out_.Remark(absl::StrCat(field, " counts as ",
                               absl::FormatDuration(scaler::kMaxTriggerTimeout),
                               ", the longest that there is."));
    }
  }

  // Triggers of these types become metrics, which, as in KEDA, never wake a target.
  void AddResource(const Json& trigger, const std::string& field, Json& out) {
    const Json& metadata = MemberOf(trigger, "metadata");
    out_.NameUnknown(trigger, field, {"metadata", "metricType", "type"});
    out_.NameUnknown(metadata, field + ".metadata", {"containerName", "type", "value"});
    const std::string container = TextOf(metadata, "containerName");
    const std::string source = container.empty() ? "resource" : "containerResource";
    const std::string made = absl::StrCat("spec.metrics[", out["metrics"].size(), "]");
    out_.MadeFrom(made, field);
    for (const char* amount : {"averageUtilization", "averageValue"}) {
      out_.MadeFrom(absl::StrCat(made, ".", source, ".target.", amount), field + ".metadata.value");
    }
    out_.MadeFrom(absl::StrCat(made, ".", source, ".container"), field + ".metadata.containerName");
    Json metric = {{"name", TextOf(trigger, "type")}, {"target", TargetOf(trigger, field)}};
    if (!container.empty()) metric["container"] = container;
    out["metrics"].push_back({{"type", container.empty() ? "Resource" : "ContainerResource"},
                              {source, std::move(metric)}});
  }

  Json TargetOf(const Json& trigger, const std::string& field) {
    const Json& metadata = MemberOf(trigger, "metadata");
    const std::string value = TextOf(metadata, "value");
    std::string type = TextOf(trigger, "metricType");
    if (type.empty()) type = TextOf(metadata, "type");
    if (type == "Utilization") {
      const std::optional<int32_t> percent = go::ParseDecimal32(value);
      if (!percent.has_value()) out_.Refuse(field + ".metadata.value", "expected whole percents");
      return {{"type", type}, {"averageUtilization", percent.value_or(1)}};
    }
    if (type != "AverageValue") {
      out_.Refuse(field + ".metricType", "expected Utilization or AverageValue");
    }
    const bool amount = kube::Quantity::Parse(value).ok();
    if (!amount) out_.Refuse(field + ".metadata.value", "expected a quantity like 500m, 2 or 1Gi");
    return {{"type", "AverageValue"}, {"averageValue", amount ? value : "1"}};
  }

  void AddSecrets(const Json& trigger, const std::string& field, Json& own) {
    const Json& reference = MemberOf(trigger, "authenticationRef");
    if (!reference.is_object()) return;
    const std::string name = TextOf(reference, "name");
    if (TextOf(reference, "kind") == "ClusterTriggerAuthentication") {
      return out_.Refuse(
          field + ".authenticationRef",
          absl::StrCat(name,
                       " is a ClusterTriggerAuthentication: copy its Secrets into this "
                       "namespace, put a TriggerAuthentication that names them into the "
                       "file, and refer to that"));
    }
    const auto found = authentications_.find(NamespacedName(object_, name));
    if (found == authentications_.end()) {
      return out_.Refuse(field + ".authenticationRef",
                         absl::StrCat("put the TriggerAuthentication ", name, " into the file"));
    }
    const Json& spec = MemberOf(found->second, "spec");
    for (const auto& [source, written] : spec.items()) {
      const bool none = source == "podIdentity" && TextOf(written, "provider") == "none";
      if (source == "secretTargetRef" || none) continue;
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

void NameJob(const Json& object, Conversion& conversion) {
  absl::StrAppend(&conversion.yaml, "# not carried over: ScaledJob ",
                  OneLine(TextOf(MemberOf(object, "metadata"), "name")),
                  ": Flyball makes no Jobs, so leave it to KEDA.\n");
}

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
    Json object = ObjectOf(node);
    const std::string key = NamespacedName(object, TextOf(MemberOf(object, "metadata"), "name"));
    authentications[key] = std::move(object);
  }
  for (const Node& node : *documents) {
    if (node.FindText("kind") == "ScaledJob") NameJob(ObjectOf(node), conversion);
    if (node.FindText("kind") != kScaledObject) continue;
    ScaledObjectConverter(node, authentications, conversion, file).Convert(options);
  }
  if (!any) AddNothing(file, kScaledObject, conversion);
  return conversion;
}

}  // namespace flyball::convert
