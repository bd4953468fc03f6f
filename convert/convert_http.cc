#include "convert/convert.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "convert/add_on_routes.h"
#include "convert/documents.h"
#include "convert/keda_pause.h"
#include "convert/keda_settings.h"
#include "convert/manifests.h"
#include "kube/objects/app_protocol.h"
#include "kube/objects/json_members.h"
#include "scaler/spec/document.h"
#include "scaler/spec/own_spec.h"

namespace flyball::convert {
namespace {

using Json = nlohmann::ordered_json;
using kube::ItemsOf;
using kube::MemberOf;
using kube::NumberOf;
using kube::TextOf;
using scaler::Node;

constexpr char kHttpScaledObject[] = "HTTPScaledObject";
constexpr char kInterceptorRoute[] = "InterceptorRoute";
constexpr char kSkip[] = "httpscaledobject.keda.sh/skip-scaledobject-creation";
// The defaults of the add-on and of KEDA.
constexpr int64_t kAddOnMaxReplicas = 100, kCooldownSeconds = 300, kTarget = 100;

// NAMESPACE/NAME -> object.
using ByName = std::map<std::string, Json>;

// Other objects of the file that a conversion needs.
struct Surroundings {
  ByName services;
  ByName scaled_objects;  // the key is the object of the add-on that a trigger names
};

class HttpConverter {
 public:
  HttpConverter(const Node& node, Json object, const Surroundings& around, absl::string_view file,
                Conversion& conversion)
      : object_(std::move(object)),
        spec_(MemberOf(object_, "spec")),
        route_(TextOf(object_, "kind") == kInterceptorRoute),
        around_(around),
        out_(file, node, conversion) {}

  void Convert(const ConvertOptions& options) {
    const std::string name = TextOf(MemberOf(object_, "metadata"), "name");
    const Json& target = MemberOf(spec_, route_ ? "target" : "scaleTargetRef");
    pods_service_ = TextOf(target, "service");
    const std::string service = absl::StrCat(name, "-front");
    Json own = {{"scaleTargetRef", Json::object()}};
    AddBounds(own);
    Json metadata = {{"service", service}, {"targetPort", TargetPort(target)}};
    AddRoutes(metadata);
    AddMetric(metadata);
    AddTimeouts(metadata);
    own["triggers"] =
        Json::array({{{"type", std::string(scaler::kHttpTrigger)}, {"metadata", metadata}}});
    NameOthers();
    out_.Remark(absl::StrCat(
        "Service ", pods_service_, " stays as it is and leads to the pods past Flyball; ", service,
        " is the one to call. For requests by host it is flyball-front in Flyball's namespace, "
        "which the chart makes only with front.hosts.enabled=true."));
    out_.Add(FrontService(MetadataOf(object_, service, {"keda.sh"}), "http", h2c_));
    out_.AddAutoscaler({{"metadata", MetadataOf(object_, name, {"keda.sh"})}, {"spec", own}},
                       options.mode);
    out_.Finish(absl::StrCat(TextOf(object_, "kind"), " ", name));
  }

 private:
  // ---- The target and its bounds

  const Json* ScaledObject() const {
    const auto found = around_.scaled_objects.find(
        NamespacedName(object_, TextOf(MemberOf(object_, "metadata"), "name")));
    return found == around_.scaled_objects.end() ? nullptr : &found->second;
  }

  // What comes before the names of a ScaledObject's fields.
  static std::string Of(const Json& scaled) {
    return absl::StrCat("ScaledObject ", TextOf(MemberOf(scaled, "metadata"), "name"), ": ");
  }

  void AddBounds(Json& own) {
    const Json* const scaled = ScaledObject();
    const bool skips =
        TextOf(MemberOf(MemberOf(object_, "metadata"), "annotations"), kSkip) == "true";
    if (scaled != nullptr && (route_ || skips)) return AddBoundsOfScaledObject(*scaled, own);
    const Json& target = MemberOf(spec_, "scaleTargetRef");
    std::string name = TextOf(target, "name");
    if (name.empty()) name = TextOf(target, "deployment");  // as it was called before
    if (route_ || name.empty()) {
      out_.Refuse(route_ ? "spec.target" : "spec.scaleTargetRef.name",
                  "the target is in the ScaledObject whose trigger names this object: put that "
                  "into the same file");
      return;
    }
    if (skips) {
      out_.Remark(
          "A ScaledObject of its own says how this is scaled: put it into the same file, "
          "or check the bounds.");
    }
    SetTarget(TextOf(target, "apiVersion"), TextOf(target, "kind"), name, own);
    const Json& replicas = MemberOf(spec_, "replicas");
    own["minReplicas"] = out_.NumberOr(replicas, "spec.replicas", "min", 0);
    own["maxReplicas"] = out_.NumberOr(replicas, "spec.replicas", "max", kAddOnMaxReplicas);
    own["cooldownPeriod"] = out_.NumberOr(spec_, "spec", "scaledownPeriod", kCooldownSeconds);
    out_.MadeFrom("spec.scaleTargetRef", "spec.scaleTargetRef");
    out_.MadeFrom("spec.minReplicas", "spec.replicas.min");
    out_.MadeFrom("spec.maxReplicas", "spec.replicas.max");
    out_.MadeFrom("spec.cooldownPeriod", "spec.scaledownPeriod");
    // The add-on gives the object's annotations to the ScaledObject that it makes. The status of
    // that says when there was activity.
    AddKedaPause(scaled != nullptr ? *scaled : object_, own, out_);
    NameInitialCooldown(object_, "", out_);
    if (scaled != nullptr) NameRunningCooldown(*scaled, Of(*scaled), own, out_);
  }

  void AddBoundsOfScaledObject(const Json& scaled, Json& own) {
    const std::string name = TextOf(MemberOf(scaled, "metadata"), "name");
    const Json& spec = MemberOf(scaled, "spec");
    const Json& target = MemberOf(spec, "scaleTargetRef");
    SetTarget(TextOf(target, "apiVersion"), TextOf(target, "kind"), TextOf(target, "name"), own);
    const std::string of = Of(scaled);
    const std::string at = of + "spec";
    own["minReplicas"] = out_.NumberOr(spec, at, "minReplicaCount", 0);
    own["maxReplicas"] = out_.NumberOr(spec, at, "maxReplicaCount", kAddOnMaxReplicas);
    own["cooldownPeriod"] = out_.NumberOr(spec, at, "cooldownPeriod", kCooldownSeconds);
    out_.MadeFrom("spec.scaleTargetRef", at + ".scaleTargetRef");
    out_.MadeFrom("spec.minReplicas", at + ".minReplicaCount");
    out_.MadeFrom("spec.maxReplicas", at + ".maxReplicaCount");
    out_.MadeFrom("spec.cooldownPeriod", at + ".cooldownPeriod");
    AddKedaSettings(spec, at, own, out_);
    AddKedaPause(scaled, own, out_);
    NameInitialCooldown(scaled, of, out_);
    NameRunningCooldown(scaled, of, own, out_);
    out_.Remark(absl::StrCat("Target and bounds are those of ScaledObject ", name,
                             ": pause or delete it before this one acts."));
    out_.NameUnknown(
        spec, at,
        {"advanced", "cooldownPeriod", "fallback", "idleReplicaCount", "initialCooldownPeriod",
         "maxReplicaCount", "minReplicaCount", "pollingInterval", "scaleTargetRef", "triggers"});
    if (!MemberOf(spec, "idleReplicaCount").is_null()) {
      out_.NotCarriedOver(at + ".idleReplicaCount",
                          "there is no idle count: minReplicas of 0 sleeps, and activationScale of "
                          "the trigger says with how many replicas it wakes");
    }
    for (const Json& trigger : ItemsOf(spec, "triggers")) {
      if (!AddOnObject(trigger).empty()) continue;
      out_.NotCarriedOver(absl::StrCat(at, ".triggers, type ", TextOf(trigger, "type")),
                          "`flyball convert scaledobject` makes the trigger that belongs here too");
    }
  }

  static void SetTarget(const std::string& version, const std::string& kind,
                        const std::string& name, Json& own) {
    own["scaleTargetRef"] = {{"apiVersion", version.empty() ? "apps/v1" : version},
                             {"kind", kind.empty() ? "Deployment" : kind},
                             {"name", name}};
  }

  // Errors of a key of the trigger are told of that field.
  void MadeFrom(const char* key, const std::string& source) {
    out_.MadeFrom(absl::StrCat("spec.triggers[0].metadata.", key), source);
  }

  // ---- Where requests go

  // The pods' port that the Service's port leads to, if the file has the Service.
  std::string TargetPort(const Json& target) {
    const int64_t number = NumberOf(target, "port");
    const std::string name = TextOf(target, "portName");
    const std::string written = name.empty() ? absl::StrCat(number) : name;
    const auto found = around_.services.find(NamespacedName(object_, pods_service_));
    if (found == around_.services.end()) {
      out_.Remark(absl::StrCat("targetPort is the Service's port ", written, ": give Service ",
                               pods_service_, " in the same file if its targetPort is another."));
      return written;
    }
    for (const Json& port : ItemsOf(MemberOf(found->second, "spec"), "ports")) {
      const bool same =
          name.empty() ? NumberOf(port, "port") == number : TextOf(port, "name") == name;
      if (!same) continue;
      h2c_ = kube::MeansHttp2(TextOf(port, "appProtocol"));
      if (const std::string text = TextOf(port, "targetPort"); !text.empty()) return text;
      const int64_t at = NumberOf(port, "targetPort");
      return absl::StrCat(at > 0 ? at : NumberOf(port, "port"));
    }
    out_.Refuse(route_ ? "spec.target" : "spec.scaleTargetRef",
                absl::StrCat("Service ", pods_service_, " has no port ", written));
    return written;
  }

  void AddRoutes(Json& metadata) {
    const AddOnRoutes routes = route_ ? RoutesOfRules(spec_, out_) : RoutesOfObject(spec_, out_);
    if (routes.hosts.empty()) return;
    MadeFrom("hosts", route_ ? "spec.rules" : "spec.hosts");
    MadeFrom("pathPrefixes", "spec.pathPrefixes");
    MadeFrom("headers", route_ ? "spec.rules" : "spec.headers");
    metadata["hosts"] = routes.hosts;
    if (!routes.path_prefixes.empty()) metadata["pathPrefixes"] = routes.path_prefixes;
    if (!routes.headers.empty()) metadata["headers"] = routes.headers;
  }

  // ---- The metric

  void AddMetric(Json& metadata) {
    const Json& metric = MemberOf(spec_, "scalingMetric");
    const Json& rate = MemberOf(metric, "requestRate");
    const Json& concurrency = MemberOf(metric, "concurrency");
    // The add-on divides by the whole target.
    metadata["targetUtilizationPercentage"] = "100";
    if (!rate.is_null() && !concurrency.is_null()) {
      out_.NotCarriedOver("spec.scalingMetric.requestRate",
                          "an http trigger counts one of both, and concurrency is here");
    }
    if (rate.is_null() || !concurrency.is_null()) {
      int64_t target = out_.NumberOr(spec_, "spec", "targetPendingRequests", kTarget);
      target = out_.NumberOr(concurrency, "spec.scalingMetric.concurrency", "targetValue", target);
      metadata["target"] = absl::StrCat(target);
      MadeFrom("target", concurrency.is_null() ? "spec.targetPendingRequests"
                                               : "spec.scalingMetric.concurrency.targetValue");
      return;
    }
    metadata["metric"] = "rps";
    MadeFrom("target", "spec.scalingMetric.requestRate.targetValue");
    MadeFrom("window", "spec.scalingMetric.requestRate.window");
    metadata["target"] =
        absl::StrCat(out_.NumberOr(rate, "spec.scalingMetric.requestRate", "targetValue", kTarget));
    const std::string window = TextOf(rate, "window");
    metadata["window"] = window.empty() ? "1m" : window;
    const std::string granularity = TextOf(rate, "granularity");
    if (!granularity.empty() && granularity != "1s") {
      out_.NotCarriedOver("spec.scalingMetric.requestRate.granularity", "it is 1s");
    }
  }

  void AddTimeouts(Json& metadata) {
    const Json& timeouts = MemberOf(spec_, "timeouts");
    const char* const wait = route_ ? "readiness" : "conditionWait";
    MadeFrom("activationTimeout", absl::StrCat("spec.timeouts.", wait));
    MadeFrom("requestTimeout", "spec.timeouts.request");
    if (const std::string text = TextOf(timeouts, wait); !text.empty() && text != "0s") {
      metadata["activationTimeout"] = text;
    }
    if (const std::string text = TextOf(timeouts, "request"); !text.empty()) {
      metadata["requestTimeout"] = text;
      out_.Remark("spec.timeouts.request counted the wait for a pod; requestTimeout does not.");
    }
    if (const std::string text = TextOf(timeouts, "responseHeader");
        !text.empty() && text != "0s") {
      out_.NotCarriedOver("spec.timeouts.responseHeader",
                          "requestTimeout is to a response's end, which would cut long ones");
    }
    out_.NameUnknown(timeouts, "spec.timeouts", {wait, "request", "responseHeader"});
  }

  void NameOthers() {
    for (const char* const field : {"coldStart", "coldStartTimeoutFailoverRef"}) {
      if (MemberOf(spec_, field).is_null()) continue;
      out_.NotCarriedOver(absl::StrCat("spec.", field),
                          "requests wait until a pod is ready, or activationTimeout is over");
    }
    if (!ItemsOf(spec_, "staticRoutes").empty()) {
      out_.NotCarriedOver("spec.staticRoutes", "an Ingress or HTTPRoute can answer by itself");
    }
    out_.NameUnknown(spec_, "spec",
                     {"coldStart", "coldStartTimeoutFailoverRef", "cooldownPeriod", "headers",
                      "host", "hosts", "initialCooldownPeriod", "pathPrefixes", "replicas", "rules",
                      "scaleTargetRef", "scaledownPeriod", "scalingMetric", "staticRoutes",
                      "target", "targetPendingRequests", "timeouts"});
    std::set<std::string> used = {kSkip};
    if (!route_) used.insert(KedaPauseAnnotations().begin(), KedaPauseAnnotations().end());
    out_.NameAnnotations(object_, used);
  }

 public:
  // The object of the add-on whose requests a trigger of a ScaledObject counts; "" if it counts
  // none.
  static std::string AddOnObject(const Json& trigger) {
    if (TextOf(trigger, "type") != "external-push") return "";
    const Json& metadata = MemberOf(trigger, "metadata");
    const std::string route = TextOf(metadata, "interceptorRoute");
    return route.empty() ? TextOf(metadata, "httpScaledObject") : route;
  }

 private:
  const Json object_;
  const Json& spec_;
  const bool route_;
  const Surroundings& around_;
  Manifests out_;
  std::string pods_service_;
  bool h2c_ = false;
};

Surroundings LookAround(const std::vector<Node>& documents) {
  Surroundings around;
  for (const Node& node : documents) {
    const absl::string_view kind = node.FindText("kind");
    if (kind == "Service" && node.FindText("apiVersion") == "v1") {
      Json object = ObjectOf(node);
      const std::string key = NamespacedName(object, TextOf(MemberOf(object, "metadata"), "name"));
      around.services[key] = std::move(object);
    }
    if (kind != "ScaledObject") continue;
    const Json object = ObjectOf(node);
    for (const Json& trigger : ItemsOf(MemberOf(object, "spec"), "triggers")) {
      const std::string name = HttpConverter::AddOnObject(trigger);
      if (!name.empty()) around.scaled_objects[NamespacedName(object, name)] = object;
    }
  }
  return around;
}

}  // namespace

Conversion ConvertHttpObjects(absl::string_view file, absl::string_view text,
                              const ConvertOptions& options) {
  Conversion conversion;
  const absl::StatusOr<std::vector<Node>> documents = ReadObjects(file, text, conversion);
  if (!documents.ok()) return conversion;
  const Surroundings around = LookAround(*documents);
  bool any = false;
  for (const Node& node : *documents) {
    const absl::string_view kind = node.FindText("kind");
    if (kind != kHttpScaledObject && kind != kInterceptorRoute) continue;
    any = true;
    HttpConverter(node, ObjectOf(node), around, file, conversion).Convert(options);
  }
  if (!any) {
    AddNothing(file, absl::StrCat(kHttpScaledObject, " or ", kInterceptorRoute), conversion);
  }
  return conversion;
}

}  // namespace flyball::convert
