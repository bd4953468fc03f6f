#include "convert/convert.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "convert/documents.h"
#include "convert/knative_pods.h"
#include "convert/knative_scaling.h"
#include "convert/manifests.h"
#include "kube/objects/json_members.h"
#include "scaler/spec/document.h"

namespace flyball::convert {
namespace {

using Json = nlohmann::ordered_json;
using kube::ItemsOf;
using kube::MemberOf;
using kube::NumberOf;
using kube::TextOf;
using scaler::Node;

constexpr char kApiVersion[] = "serving.knative.dev/v1";
constexpr absl::string_view kDomain = "knative.dev";
// The name that the port has in the Service that Knative makes, so that this Service can be changed
// into a front's in place.
constexpr char kFrontPort[] = "http2";
// The label by which the selectors find a Deployment's pods.
constexpr char kPodsLabel[] = "flyball.dev/service";
// Annotations that Knative's controllers write.
const std::set<std::string>& WrittenByKnative() {
  static const auto* const keys = new std::set<std::string>{
      "serving.knative.dev/creator",    "serving.knative.dev/lastModifier",
      "serving.knative.dev/routes",     "serving.knative.dev/routingStateModified",
      "serving.knative.dev/lastPinned", "serving.knative.dev/no-gc"};
  return *keys;
}

scaler::knative::TextMap Texts(const Json& object) {
  scaler::knative::TextMap texts;
  if (!object.is_object()) return texts;
  for (const auto& [key, value] : object.items()) {
    if (value.is_string()) texts[key] = value.get<std::string>();
  }
  return texts;
}

class KnativeConverter {
 public:
  KnativeConverter(const Node& node, Json object, absl::string_view file, Conversion& conversion)
      : object_(std::move(object)),
        kind_(TextOf(object_, "kind")),
        name_(TextOf(MemberOf(object_, "metadata"), "name")),
        path_(kind_ == "Revision" ? "" : "spec.template."),
        out_(file, node, conversion) {}

  void Convert(const ConvertOptions& options) {
    const Json& spec = MemberOf(object_, "spec");
    const Json& from = kind_ == "Revision" ? object_ : MemberOf(spec, "template");
    const Json& written = MemberOf(from, "spec");
    if (!written.is_object()) {
      out_.Refuse(absl::StrCat(path_, "spec"), "is missing");
      return out_.Finish("");
    }
    const std::string front = options.beside ? absl::StrCat(name_, "-front") : name_;
    if (!options.beside) {
      out_.Remark(absl::StrCat(
          "While the Knative ", kind_, " is there its Service ", name_,
          " is Knative's; docs/scale-to-zero.md has the way over without a lost request."));
    }
    NameObject(spec);
    Json pods = written;
    const KnativePods made = MakeKnativePods(pods, absl::StrCat(path_, "spec"), out_);
    const KnativeRevision revision{.front_service = front,
                                   .annotations_path = absl::StrCat(path_, "metadata.annotations"),
                                   .spec_path = absl::StrCat(path_, "spec"),
                                   .annotations = Annotations(from),
                                   .spec = written,
                                   .port = made.port};
    Json own = {
        {"scaleTargetRef", {{"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"name", name_}}}};
    const KnativeScaling scaling = AddKnativeScaling(revision, own, out_);
    out_.Add(Deployment(from, std::move(pods), scaling));
    if (scaling.by_requests) {
      out_.Add(FrontService(Metadata(front), kFrontPort, made.h2c));
      out_.Add(PodsService(absl::StrCat(name_, "-pods"), made));
    } else {
      out_.Add(PodsService(front, made));
    }
    out_.AddAutoscaler({{"metadata", Metadata(name_)}, {"spec", std::move(own)}}, options.mode);
    out_.Remark(
        "K_SERVICE, K_CONFIGURATION and K_REVISION are not set in the pods any more; PORT is.");
    out_.Finish(absl::StrCat("Knative ", kind_, " ", name_));
  }

 private:
  Json Metadata(const std::string& name) const { return MetadataOf(object_, name, {kDomain}); }

  std::string Namespace() const {
    const std::string ns = TextOf(MemberOf(object_, "metadata"), "namespace");
    return ns.empty() ? "default" : ns;
  }

  scaler::knative::TextMap Annotations(const Json& from) const {
    scaler::knative::TextMap texts = Texts(MemberOf(MemberOf(from, "metadata"), "annotations"));
    for (const std::string& key : WrittenByKnative()) texts.erase(key);
    return texts;
  }

  void NameObject(const Json& spec) {
    const auto texts = Texts(MemberOf(MemberOf(object_, "metadata"), "annotations"));
    for (const auto& [key, text] : texts) {
      if (kind_ == "Revision" || !IsOfDomain(key, kDomain) || WrittenByKnative().contains(key)) {
        continue;
      }
      out_.NotCarriedOver(absl::StrCat("annotation ", key));
    }
    for (const auto& [key, text] : Texts(MemberOf(MemberOf(object_, "metadata"), "labels"))) {
      if (!absl::StartsWith(key, "networking.knative.dev/")) continue;
      out_.NotCarriedOver(absl::StrCat("label ", key),
                          "a Service is for the cluster alone until an Ingress or route leads to "
                          "it");
    }
    if (kind_ == "Revision") return;
    out_.NameUnknown(spec, "spec", {"template", "traffic"});
    const Json& made_from = MemberOf(spec, "template");
    out_.NameUnknown(made_from, "spec.template", {"metadata", "spec"});
    if (!TextOf(MemberOf(made_from, "metadata"), "name").empty()) {
      out_.NotCarriedOver("spec.template.metadata.name",
                          "a Deployment has one revision at a time, and `kubectl rollout undo` "
                          "takes it back");
    }
    NameTraffic(ItemsOf(spec, "traffic"));
  }

  void NameTraffic(const Json& traffic) {
    if (traffic.size() == 1 && TextOf(traffic[0], "revisionName").empty() &&
        TextOf(traffic[0], "tag").empty()) {
      return;
    }
    for (size_t i = 0; i < traffic.size(); ++i) {
      const std::string revision = TextOf(traffic[i], "revisionName");
      const std::string tag = TextOf(traffic[i], "tag");
      out_.NotCarriedOver(
          absl::StrCat("spec.traffic[", i, "]"),
          absl::StrCat(
              NumberOf(traffic[i], "percent"), " % to ",
              revision.empty() ? "the latest revision" : absl::StrCat("revision ", revision),
              tag.empty() ? "" : absl::StrCat(" by the tag ", tag),
              ", which here are Deployments of their own that a route divides between"));
    }
  }

  Json Deployment(const Json& from, Json pods, const KnativeScaling& scaling) {
    Json metadata = Metadata(name_);
    for (const auto& [key, text] : Texts(MemberOf(MemberOf(object_, "metadata"), "annotations"))) {
      if (!IsOfDomain(key, kDomain) && key != kLastApplied) metadata["annotations"][key] = text;
    }
    Json of_pods = {{"labels", {{kPodsLabel, name_}}}};
    for (const auto& [key, text] : Texts(MemberOf(MemberOf(from, "metadata"), "labels"))) {
      if (!IsOfDomain(key, kDomain)) of_pods["labels"][key] = text;
    }
    for (const auto& [key, text] : Texts(MemberOf(MemberOf(from, "metadata"), "annotations"))) {
      if (!IsOfDomain(key, kDomain) && key != kLastApplied) of_pods["annotations"][key] = text;
    }
    Json spec = Json::object();
    // Each apply would set `replicas` again, and the first one without it would set 1.
    if (scaling.initial_scale.has_value()) {
      out_.Remark(absl::StrCat(
          "initial-scale is set once the Deployment is made: kubectl scale "
          "deployment ",
          name_, " --namespace ", Namespace(), " --replicas=", *scaling.initial_scale));
    }
    if (scaling.progress_deadline_seconds.has_value()) {
      spec["progressDeadlineSeconds"] = *scaling.progress_deadline_seconds;
    }
    spec["selector"] = {{"matchLabels", {{kPodsLabel, name_}}}};
    spec["strategy"] = {{"type", "RollingUpdate"}, {"rollingUpdate", {{"maxUnavailable", 0}}}};
    spec["template"] = {{"metadata", std::move(of_pods)}, {"spec", std::move(pods)}};
    return {{"apiVersion", "apps/v1"},
            {"kind", "Deployment"},
            {"metadata", std::move(metadata)},
            {"spec", std::move(spec)}};
  }

  // The Service that leads to the pods directly, for clients that must not use the front.
  Json PodsService(const std::string& name, const KnativePods& pods) const {
    Json port = {{"name", pods.h2c ? "http2" : "http"}, {"port", 80}, {"targetPort", pods.port}};
    if (pods.h2c) port["appProtocol"] = "kubernetes.io/h2c";
    return {
        {"apiVersion", "v1"},
        {"kind", "Service"},
        {"metadata", Metadata(name)},
        {"spec", {{"selector", {{kPodsLabel, name_}}}, {"ports", Json::array({std::move(port)})}}}};
  }

  const Json object_;
  const std::string kind_;
  const std::string name_;
  const std::string path_;  // where the object has its template
  Manifests out_;
};

// Whether Knative made the object for another object of the file, which `label` names.
bool IsMade(const Json& object, const char* label, const std::set<std::string>& makers) {
  const Json& metadata = MemberOf(object, "metadata");
  const std::string maker = TextOf(MemberOf(metadata, "labels"), label);
  return !maker.empty() && makers.contains(absl::StrCat(TextOf(metadata, "namespace"), "/", maker));
}

void NameDomain(const Json& object, Conversion& conversion) {
  const std::string name = TextOf(MemberOf(object, "metadata"), "name");
  const std::string of = TextOf(MemberOf(MemberOf(object, "spec"), "ref"), "name");
  absl::StrAppend(&conversion.yaml, "# not carried over: DomainMapping ", OneLine(name), " of ",
                  OneLine(of),
                  ": an Ingress or HTTPRoute leads to its Service, or the trigger's `hosts`.\n");
}

void NameRoute(const Json& object, Conversion& conversion) {
  absl::StrAppend(&conversion.yaml, "# not carried over: Route ",
                  OneLine(TextOf(MemberOf(object, "metadata"), "name")),
                  ": shares of traffic and tags are for an HTTPRoute to say.\n");
}

}  // namespace

Conversion ConvertKnativeServices(absl::string_view file, absl::string_view text,
                                  const ConvertOptions& options) {
  Conversion conversion;
  const absl::StatusOr<std::vector<Node>> documents = ReadObjects(file, text, conversion);
  if (!documents.ok()) return conversion;
  std::map<std::string, std::set<std::string>> makers;  // by kind
  std::vector<std::pair<const Node*, Json>> objects;
  for (const Node& node : *documents) {
    const absl::string_view version = node.FindText("apiVersion");
    if (!absl::StartsWith(version, "serving.knative.dev/")) continue;
    Json object = ObjectOf(node);
    const Json& metadata = MemberOf(object, "metadata");
    const std::string kind(node.FindText("kind"));
    makers[kind].insert(absl::StrCat(TextOf(metadata, "namespace"), "/", TextOf(metadata, "name")));
    if (kind == "DomainMapping") {
      NameDomain(object, conversion);
    } else if (version != kApiVersion) {
      AddError(file, node.line,
               absl::StrCat("expected apiVersion ", kApiVersion, ", got ", version), conversion);
      return conversion;
    } else {
      objects.emplace_back(&node, std::move(object));
    }
  }
  bool any = false;
  for (auto& [node, object] : objects) {
    const std::string kind(node->FindText("kind"));
    const bool converted =
        kind == "Service" ||
        (kind == "Configuration" &&
         !IsMade(object, "serving.knative.dev/service", makers["Service"])) ||
        (kind == "Revision" &&
         !IsMade(object, "serving.knative.dev/configuration", makers["Configuration"]) &&
         !IsMade(object, "serving.knative.dev/service", makers["Service"]));
    any |= converted;
    if (kind == "Route" && !IsMade(object, "serving.knative.dev/service", makers["Service"])) {
      NameRoute(object, conversion);
    }
    if (converted) KnativeConverter(*node, std::move(object), file, conversion).Convert(options);
  }
  if (!any) AddNothing(file, "Service of Knative", conversion);
  return conversion;
}

}  // namespace flyball::convert
