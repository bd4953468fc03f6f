#include "convert/convert_hpa.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "kube/objects/yaml_text.h"
#include "scaler/spec/document.h"
#include "scaler/spec/hpa/admission.h"
#include "scaler/spec/own/parser.h"

namespace flyball::convert {
namespace {

using scaler::Node;

constexpr absl::string_view kHpa = "HorizontalPodAutoscaler";
constexpr absl::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

// ---- writing ----

void EmitText(absl::string_view text, YAML::Emitter& out) {
  if (!kube::IsPlainYaml(text)) out << YAML::DoubleQuoted;
  out << std::string(text);
}

void Emit(const Node& node, YAML::Emitter& out) {
  switch (node.kind) {
    case Node::Kind::kMap:
      out << YAML::BeginMap;
      for (const auto& [key, value] : node.members) {
        out << YAML::Key;
        EmitText(key, out);
        out << YAML::Value;
        Emit(value, out);
      }
      out << YAML::EndMap;
      break;
    case Node::Kind::kList:
      out << YAML::BeginSeq;
      for (const Node& item : node.items) Emit(item, out);
      out << YAML::EndSeq;
      break;
    case Node::Kind::kString:
      EmitText(node.text, out);
      break;
    case Node::Kind::kNumber:
      out << node.text;
      break;
    case Node::Kind::kBool:
      out << (node.boolean ? "true" : "false");
      break;
    case Node::Kind::kNull:
      out << "null";
      break;
  }
}

Node Text(std::string text) {
  Node node;
  node.kind = Node::Kind::kString;
  node.text = std::move(text);
  return node;
}

Node Map(std::vector<scaler::Member> members) {
  Node node;
  node.kind = Node::Kind::kMap;
  node.members = std::move(members);
  return node;
}

Node TextMap(const std::map<std::string, std::string>& from) {
  Node node = Map({});
  for (const auto& [key, value] : from) node.members.push_back({key, Text(value)});
  return node;
}

// ---- reading ----

// The documents of the file, with those of a List in its place.
void Flatten(const Node& node, std::vector<const Node*>& out) {
  const Node* items = node.Find("items");
  if (!absl::EndsWith(node.FindText("kind"), "List") || items == nullptr) {
    out.push_back(&node);
    return;
  }
  for (const Node& item : items->items) Flatten(item, out);
}

// The API server takes the namespace from the request, so files often leave it out.
Node WithNamespace(const Node& document, bool& added) {
  Node out = document;
  added = false;
  for (scaler::Member& member : out.members) {
    if (member.key != "metadata" || !member.value.is_map()) continue;
    if (member.value.Find("namespace") != nullptr) continue;
    member.value.members.push_back({"namespace", Text("default")});
    added = true;
  }
  return out;
}

class Converter {
 public:
  Converter(absl::string_view file, const ConvertOptions& options)
      : file_(file), options_(options) {}

  void Add(const Node& document) {
    bool no_namespace = false;
    const Node object = WithNamespace(document, no_namespace);
    const scaler::AdmissionResult hpa = scaler::Admit(
        object, {.gates = {.hpa_configurable_tolerance = true, .hpa_scale_to_zero = true}});
    if (!hpa.decode_error.empty()) return FailToDecode(object, hpa.decode_error);
    if (!hpa.errors.empty()) return Fail(object, hpa.errors);
    const absl::StatusOr<Node> spec = scaler::ParseJson(hpa.canonical_spec_json);
    if (!spec.ok()) return FailToDecode(object, spec.status().message());

    std::vector<std::string> remarks = Remarks(object, *hpa.autoscaler);
    const Node own = Own(*hpa.autoscaler, *spec, no_namespace);
    YAML::Emitter out;
    Emit(own, out);
    const std::string yaml = out.c_str();
    Check(object, own);
    absl::StrAppend(&conversion_.yaml, "---\n# from ", kHpa, " ", hpa.autoscaler->name, " (", file_,
                    ":", object.line, ")\n");
    for (const std::string& remark : remarks)
      absl::StrAppend(&conversion_.yaml, "# ", remark, "\n");
    absl::StrAppend(&conversion_.yaml, yaml, "\n");
  }

  Conversion Take() { return std::move(conversion_); }

  void Error(int line, absl::string_view what) {
    conversion_.errors.push_back(
        absl::StrCat(file_, line > 0 ? absl::StrCat(":", line) : "", ": ", what));
  }

  // A message that may begin with `line N: `.
  void FailToDecode(const Node& object, absl::string_view message) {
    absl::string_view rest = message;
    int line = 0;
    if (absl::ConsumePrefix(&rest, "line ")) {
      const size_t digits = rest.find_first_not_of("0123456789");
      if (absl::SimpleAtoi(rest.substr(0, digits), &line)) {
        rest.remove_prefix(std::min(digits, rest.size()));
        if (absl::ConsumePrefix(&rest, ": ") || absl::ConsumePrefix(&rest, ", ")) {
          return Error(line, rest);
        }
      }
    }
    Error(object.line, message);
  }

 private:
  void Fail(const Node& object, const std::vector<scaler::FieldError>& errors) {
    for (const scaler::FieldError& error : errors) {
      Error(scaler::LineOf(object, error.field), error.ToString());
    }
  }

  // What our own kind refuses although an HPA does not.
  void Check(const Node& object, const Node& own) {
    bool added = false;
    const scaler::OwnParseResult parsed =
        scaler::ParseOwnAutoscaler(WithNamespace(own, added), /*trigger_types=*/{});
    if (!parsed.decode_error.empty()) FailToDecode(object, parsed.decode_error);
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

  Node Own(const scaler::Autoscaler& hpa, const Node& hpa_spec, bool no_namespace) const {
    Node metadata = Map({{"name", Text(hpa.name)}});
    if (!no_namespace) metadata.members.push_back({"namespace", Text(hpa.ns)});
    std::map<std::string, std::string> annotations = hpa.annotations;
    annotations.erase(std::string(kLastApplied));
    if (!hpa.labels.empty()) metadata.members.push_back({"labels", TextMap(hpa.labels)});
    if (!annotations.empty()) metadata.members.push_back({"annotations", TextMap(annotations)});
    Node spec = hpa_spec;
    for (scaler::Member& member : spec.members) {
      if (member.key == "minReplicas" && member.value.text == "0") member.value.text = "1";
    }
    if (!options_.mode.empty()) spec.members.push_back({"mode", Text(options_.mode)});
    return Map({{"apiVersion", Text(std::string(scaler::kOwnApiVersion))},
                {"kind", Text(std::string(scaler::kOwnKind))},
                {"metadata", std::move(metadata)},
                {"spec", std::move(spec)}});
  }

  const absl::string_view file_;
  const ConvertOptions& options_;
  Conversion conversion_;
};

}  // namespace

Conversion ConvertHpas(absl::string_view file, absl::string_view text,
                       const ConvertOptions& options) {
  Converter converter(file, options);
  const absl::StatusOr<std::vector<Node>> documents =
      scaler::ParseDocuments(text, {.max_nodes = 1'000'000});
  if (!documents.ok()) {
    converter.FailToDecode(Node{}, documents.status().message());
    return converter.Take();
  }
  std::vector<const Node*> objects;
  for (const Node& document : *documents) Flatten(document, objects);
  const auto others = std::remove_if(objects.begin(), objects.end(), [](const Node* object) {
    return object->FindText("kind") != kHpa;
  });
  objects.erase(others, objects.end());
  if (objects.empty()) converter.Error(0, absl::StrCat("no ", kHpa, " in it"));
  for (const Node* object : objects) converter.Add(*object);
  return converter.Take();
}

}  // namespace flyball::convert
