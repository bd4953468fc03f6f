#include "convert/convert_hpa.h"

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "convert/documents.h"
#include "kube/objects/yaml_text.h"
#include "scaler/spec/document.h"
#include "scaler/spec/hpa/admission.h"
#include "scaler/spec/own/parser.h"

namespace flyball::convert {
namespace {

using Json = nlohmann::ordered_json;
using scaler::Node;

constexpr absl::string_view kHpa = "HorizontalPodAutoscaler";

// Adds a namespace if there is none: files often leave it out, since the API server takes it from
// the request. Returns whether it was missing.
bool AddNamespace(Node& object) {
  bool added = false;
  for (scaler::Member& member : object.members) {
    if (member.key != "metadata" || !member.value.is_map()) continue;
    if (member.value.Find("namespace") != nullptr) continue;
    Node text;
    text.kind = Node::Kind::kString;
    text.text = "default";
    member.value.members.push_back({"namespace", std::move(text)});
    added = true;
  }
  return added;
}

// The name of the ScaledObject that KEDA made the object for; "" if it did not.
std::string MakerOf(const Node& object) {
  const Node* const metadata = object.Find("metadata");
  const Node* const owners = metadata == nullptr ? nullptr : metadata->Find("ownerReferences");
  if (owners == nullptr) return "";
  for (const Node& owner : owners->items) {
    const Node* const controls = owner.Find("controller");
    if (controls != nullptr && controls->boolean && owner.FindText("kind") == "ScaledObject" &&
        absl::StartsWith(owner.FindText("apiVersion"), "keda.sh/")) {
      return std::string(owner.FindText("name"));
    }
  }
  return "";
}

class Converter {
 public:
  Converter(absl::string_view file, const ConvertOptions& options)
      : file_(file), options_(options) {}

  void Add(const Node& document) {
    if (const std::string maker = MakerOf(document); !maker.empty()) {
      return LeaveOut(document, maker);
    }
    Node object = document;
    const bool no_namespace = AddNamespace(object);
    scaler::AdmitOptions admit = scaler::AdmitAll();
    admit.dialect = options_.dialect.value_or(admit.dialect);
    const scaler::AdmissionResult hpa = scaler::Admit(object, admit);
    if (!hpa.decode_error.empty()) return FailToDecode(object.line, hpa.decode_error);
    if (!hpa.errors.empty()) return Fail(object, hpa.errors);

    Json own = Own(*hpa.autoscaler, Json::parse(hpa.canonical_spec_json, nullptr, false));
    Check(object, own);
    if (no_namespace) own["metadata"].erase("namespace");
    absl::StrAppend(&conversion_.yaml, "---\n# from ", kHpa, " ", hpa.autoscaler->name, " (",
                    OneLine(file_), ":", object.line, ")\n");
    for (const std::string& remark : Remarks(object, *hpa.autoscaler)) {
      absl::StrAppend(&conversion_.yaml, "# ", remark, "\n");
    }
    conversion_.yaml += kube::YamlOf(own);
  }

  Conversion Take() { return std::move(conversion_); }

 private:
  // KEDA would make it again, and its metrics are KEDA's.
  void LeaveOut(const Node& object, absl::string_view maker) {
    absl::StrAppend(&conversion_.yaml, "# not converted: ", kHpa, " ",
                    OneLine(object.Find("metadata")->FindText("name")), " (", OneLine(file_), ":",
                    object.line, "): KEDA made it for ScaledObject ", OneLine(maker),
                    ", which `flyball convert scaledobject` takes.\n");
  }

  void Error(int line, absl::string_view what) { AddError(file_, line, what, conversion_); }
  void FailToDecode(int line, absl::string_view message) {
    AddDecodeError(file_, line, message, conversion_);
  }
  void Fail(const Node& object, const std::vector<scaler::FieldError>& errors) {
    for (const scaler::FieldError& error : errors) {
      Error(scaler::LineOf(object, error.field), error.ToString());
    }
  }

  // Reports what an Autoscaler (CRD) refuses and an HPA does not.
  void Check(const Node& object, const Json& own) {
    const scaler::OwnParseResult parsed =
        scaler::ParseOwnAutoscaler(own.dump(), /*trigger_types=*/{});
    if (!parsed.decode_error.empty()) FailToDecode(object.line, parsed.decode_error);
    Fail(object, parsed.errors);
  }

  static std::vector<std::string> Remarks(const Node& object, const scaler::Autoscaler& hpa) {
    std::vector<std::string> out = {
        "Delete the HorizontalPodAutoscaler before this one acts: both would write one scale."};
    if (hpa.min_replicas == 0) {
      out.push_back(
          "minReplicas was 0: it needs a trigger, which tells when to leave zero; it is 1 here.");
    }
    const Node* metadata = object.Find("metadata");
    for (const char* field : {"ownerReferences", "finalizers", "generateName"}) {
      if (metadata != nullptr && metadata->Find(field) != nullptr) {
        out.push_back(absl::StrCat("not carried over: metadata.", field));
      }
    }
    return out;
  }

  Json Own(const scaler::Autoscaler& hpa, Json spec) const {
    Json metadata = {{"name", hpa.name}, {"namespace", hpa.ns}};
    std::map<std::string, std::string> annotations = hpa.annotations;
    annotations.erase(std::string(kLastApplied));
    if (!hpa.labels.empty()) metadata["labels"] = hpa.labels;
    if (!annotations.empty()) metadata["annotations"] = annotations;
    if (hpa.min_replicas == 0) spec["minReplicas"] = 1;
    if (!options_.mode.empty()) spec["mode"] = options_.mode;
    return {{"apiVersion", std::string(scaler::kOwnApiVersion)},
            {"kind", std::string(scaler::kOwnKind)},
            {"metadata", std::move(metadata)},
            {"spec", std::move(spec)}};
  }

  const absl::string_view file_;
  const ConvertOptions& options_;
  Conversion conversion_;
};

}  // namespace

Conversion ConvertHpas(absl::string_view file, absl::string_view text,
                       const ConvertOptions& options) {
  Conversion unread;
  absl::StatusOr<std::vector<Node>> objects = ReadObjects(file, text, unread);
  if (!objects.ok()) return unread;
  std::erase_if(*objects, [](const Node& object) { return object.FindText("kind") != kHpa; });
  Converter converter(file, options);
  for (const Node& object : *objects) converter.Add(object);
  Conversion conversion = converter.Take();
  if (objects->empty()) AddNothing(file, kHpa, conversion);
  return conversion;
}

}  // namespace flyball::convert
