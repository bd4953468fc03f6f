#include "processes/manifest_json.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "processes/process_set_spec.h"
#include "scaler/spec/document.h"
#include "scaler/spec/document_json.h"

namespace flyball::processes {
namespace {

using nlohmann::json;
using scaler::Node;

absl::Status Bad(const Node& node, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("line ", node.line, ": ", what));
}

absl::Status BadKind(const Node& node, absl::string_view field, absl::string_view expected) {
  return Bad(node, absl::StrCat(field, ": ", expected, " was expected, not ", KindName(node.kind)));
}

// Checks the labels or annotations, and changes them in `metadata` as the real API server does:
// null is no map, and the text of a null is empty. A number is taken as the text of an annotation,
// which the real API server refuses.
absl::Status ReadTexts(const Node& map, const std::string& name, json& metadata) {
  const std::string field = absl::StrCat("metadata.", name);
  if (map.is_null()) metadata.erase(name);
  if (!map.is_map()) return map.is_null() ? absl::OkStatus() : BadKind(map, field, "an object");
  for (const scaler::Member& member : map.members) {
    const Node& value = member.value;
    if (value.is_null()) {
      metadata[name][member.key] = "";
    } else if (name == "annotations" && value.kind == Node::Kind::kNumber) {
      metadata[name][member.key] = value.text;
    } else if (value.kind != Node::Kind::kString) {
      return BadKind(value, absl::StrCat(field, ".", member.key), "a string");
    }
  }
  return absl::OkStatus();
}

// What every reader of the stored objects relies on.
absl::Status CheckFields(const Node& node, const Node& metadata, json& object) {
  for (const char* name : {"labels", "annotations"}) {
    const Node* const map = metadata.Find(name);
    if (map != nullptr) RETURN_IF_ERROR(ReadTexts(*map, name, object["metadata"]));
  }
  for (const char* name : {"spec", "status"}) {
    const Node* const field = node.Find(name);
    if (field != nullptr && !field->is_map() && !field->is_null()) {
      return BadKind(*field, name, "an object");
    }
  }
  return absl::OkStatus();
}

// What a CustomResourceDefinition defines, in its first version.
absl::StatusOr<kube::ResourceInfo> ReadDefinition(const Node& node) {
  static const Node& none = *new Node();
  const auto member = [](const Node& of, absl::string_view name) -> const Node& {
    const Node* const found = of.Find(name);
    return found == nullptr ? none : *found;
  };
  const Node& spec = member(node, "spec");
  const Node& names = member(spec, "names");
  const std::vector<Node>& versions = member(spec, "versions").items;
  kube::ResourceInfo info;
  info.name.group = std::string(spec.FindText("group"));
  info.name.resource = absl::AsciiStrToLower(names.FindText("plural"));
  info.version = std::string(versions.empty() ? spec.FindText("version")  // as v1beta1 has it
                                              : versions[0].FindText("name"));
  info.kind = std::string(names.FindText("kind"));
  info.singular = std::string(names.FindText("singular"));
  info.namespaced = spec.FindText("scope") != "Cluster";
  info.scalable = false;
  for (const std::string* needed :
       {&info.name.group, &info.name.resource, &info.version, &info.kind}) {
    if (needed->empty()) {
      return Bad(node,
                 "a CustomResourceDefinition needs spec.group, spec.versions, spec.names.plural "
                 "and spec.names.kind");
    }
  }
  return info;
}

// What a list says of those of its items that do not say it themselves.
struct ItemType {
  std::string api_version;
  std::string kind;
};

absl::Status ReadObject(const Node& node, const ItemType& type, std::vector<ManifestJson>& out) {
  if (!node.is_map()) return Bad(node, "this is no object: a map was expected");
  std::string api_version(node.FindText("apiVersion"));
  ManifestJson one;
  one.kind = std::string(node.FindText("kind"));
  const Node* items = node.Find("items");
  if (absl::EndsWith(one.kind, "List") && items != nullptr) {
    if (!items->is_list() && !items->is_null()) return BadKind(*items, "items", "a list");
    ItemType of_items;
    of_items.kind = std::string(absl::StripSuffix(one.kind, "List"));
    if (!of_items.kind.empty()) of_items.api_version = api_version;
    for (const Node& item : items->items) RETURN_IF_ERROR(ReadObject(item, of_items, out));
    return absl::OkStatus();
  }
  if (api_version.empty()) api_version = type.api_version;
  if (one.kind.empty()) one.kind = type.kind;
  const absl::StatusOr<kube::ApiVersion> version = kube::ApiVersion::Parse(api_version);
  const Node* metadata = node.Find("metadata");
  if (one.kind.empty() || !version.ok() || version->version.empty() || metadata == nullptr ||
      metadata->FindText("name").empty()) {
    return Bad(node, "apiVersion, kind and metadata.name are needed");
  }
  one.version = *version;
  one.ns = std::string(metadata->FindText("namespace"));
  one.name = std::string(metadata->FindText("name"));
  json object = scaler::JsonOf<json>(node);
  object["apiVersion"] = api_version;
  object["kind"] = one.kind;
  RETURN_IF_ERROR(CheckFields(node, *metadata, object));
  if (one.kind == kProcessSetKind) {
    ASSIGN_OR_RETURN(const ProcessSetSpec spec, ReadProcessSet(node));
    object["spec"]["replicas"] = spec.replicas;
  }
  if (one.kind == "CustomResourceDefinition") {
    ASSIGN_OR_RETURN(one.defines, ReadDefinition(node));
  }
  one.object = object.dump(-1, ' ', false, json::error_handler_t::replace);
  if (!json::accept(one.object)) return Bad(node, "it has a number that is too large");
  out.push_back(std::move(one));
  return absl::OkStatus();
}

// YAML may begin with a brace too. If it is neither, the error of JSON is told, as kubectl does.
absl::StatusOr<std::vector<Node>> DocumentsOf(absl::string_view text) {
  absl::StatusOr<std::vector<Node>> documents = scaler::ParseDocuments(text);
  if (documents.ok() || !absl::StartsWith(absl::StripLeadingAsciiWhitespace(text), "{")) {
    return documents;
  }
  absl::StatusOr<std::vector<Node>> yaml = scaler::ParseYamlDocuments(text, {});
  return yaml.ok() ? std::move(yaml) : std::move(documents);
}

}  // namespace

absl::StatusOr<std::vector<ManifestJson>> ReadManifestJson(absl::string_view text) {
  ASSIGN_OR_RETURN(const std::vector<Node> documents, DocumentsOf(text));
  std::vector<ManifestJson> out;
  for (const Node& document : documents) RETURN_IF_ERROR(ReadObject(document, {}, out));
  return out;
}

}  // namespace flyball::processes
