#include "convert/convert.h"

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "convert/documents.h"
#include "convert/manifests.h"
#include "scaler/spec/document.h"
#include "scaler/spec/hpa/admission.h"

namespace flyball::convert {
namespace {

using Json = nlohmann::ordered_json;
using scaler::Node;

constexpr absl::string_view kHpa = "HorizontalPodAutoscaler";

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

// KEDA would make it again, and its metrics are KEDA's.
void LeaveOut(const Node& object, absl::string_view maker, absl::string_view file,
              Conversion& conversion) {
  absl::StrAppend(&conversion.yaml, "# not converted: ", kHpa, " ",
                  OneLine(object.Find("metadata")->FindText("name")), " (", OneLine(file), ":",
                  object.line, "): KEDA made it for ScaledObject ", OneLine(maker),
                  ", which `flyball convert scaledobject` takes.\n");
}

void AddRemarks(const Node& object, const scaler::Autoscaler& hpa, Manifests& out) {
  out.Remark(
      "Delete the HorizontalPodAutoscaler before this one acts: both would write one scale.");
  if (hpa.min_replicas == 0) {
    out.Remark(
        "minReplicas was 0: it needs a trigger, which tells when to leave zero; it is 1 here.");
  }
  const Node* metadata = object.Find("metadata");
  for (const char* field : {"ownerReferences", "finalizers", "generateName"}) {
    if (metadata != nullptr && metadata->Find(field) != nullptr) {
      out.Remark(absl::StrCat("not carried over: metadata.", field));
    }
  }
}

Json HpaMetadata(const scaler::Autoscaler& hpa, bool with_namespace) {
  Json metadata = {{"name", hpa.name}};
  if (with_namespace) metadata["namespace"] = hpa.ns;
  std::map<std::string, std::string> annotations = hpa.annotations;
  annotations.erase(std::string(kLastApplied));
  if (!hpa.labels.empty()) metadata["labels"] = hpa.labels;
  if (!annotations.empty()) metadata["annotations"] = annotations;
  return metadata;
}

void ConvertHpa(Node object, absl::string_view file, const ConvertOptions& options,
                Conversion& conversion) {
  if (const std::string maker = MakerOf(object); !maker.empty()) {
    return LeaveOut(object, maker, file, conversion);
  }
  const bool has_namespace = !scaler::GiveNamespace(object);
  scaler::AdmitOptions admit = scaler::AdmitAll();
  admit.dialect = options.dialect.value_or(admit.dialect);
  const scaler::AdmissionResult hpa = scaler::Admit(object, admit);
  if (!hpa.decode_error.empty()) {
    return AddDecodeError(file, object.line, hpa.decode_error, conversion);
  }
  for (const scaler::FieldError& error : hpa.errors) {
    AddError(file, scaler::LineOf(object, error.field), error.ToString(), conversion);
  }
  if (!hpa.errors.empty()) return;
  Manifests out(file, object, conversion);
  AddRemarks(object, *hpa.autoscaler, out);
  Json spec = Json::parse(hpa.canonical_spec_json, nullptr, false);
  if (hpa.autoscaler->min_replicas == 0) spec["minReplicas"] = 1;
  out.AddAutoscaler(
      {{"metadata", HpaMetadata(*hpa.autoscaler, has_namespace)}, {"spec", std::move(spec)}},
      options.mode);
  out.Finish(absl::StrCat(kHpa, " ", hpa.autoscaler->name));
}

}  // namespace

Conversion ConvertHpas(absl::string_view file, absl::string_view text,
                       const ConvertOptions& options) {
  Conversion conversion;
  absl::StatusOr<std::vector<Node>> objects = ReadObjects(file, text, conversion);
  if (!objects.ok()) return conversion;
  std::erase_if(*objects, [](const Node& object) { return object.FindText("kind") != kHpa; });
  for (Node& object : *objects) ConvertHpa(std::move(object), file, options, conversion);
  if (objects->empty()) AddNothing(file, kHpa, conversion);
  return conversion;
}

}  // namespace flyball::convert
