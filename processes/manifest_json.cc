#include "processes/manifest_json.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "kube/objects/api_version.h"
#include "kube/objects/builtin_resources.h"
#include "kube/objects/manifest.h"
#include "processes/process_set_spec.h"
#include "scaler/spec/document.h"
#include "scaler/spec/document_json.h"

namespace flyball::processes {
namespace {

using nlohmann::json;
using scaler::Node;

kube::ResourceInfo KindOf(const kube::ApiVersion& version, const std::string& kind) {
  for (const kube::ResourceInfo& info : kube::BuiltinResources()) {
    if (info.kind == kind && info.name.group == version.group && info.version == version.version) {
      return info;
    }
  }
  kube::ResourceInfo info;
  info.name = {version.group, kube::GuessPlural(kind)};
  info.version = version.version;
  info.kind = kind;
  info.singular = absl::AsciiStrToLower(kind);
  info.scalable = kind == kProcessSetKind;
  return info;
}

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

absl::Status ReadObject(const Node& node, std::vector<ManifestJson>& out) {
  if (!node.is_map()) return Bad(node, "this is no object: a map was expected");
  const std::string kind(node.FindText("kind"));
  const Node* items = node.Find("items");
  if (absl::EndsWith(kind, "List") && items != nullptr) {
    for (const Node& item : items->items) RETURN_IF_ERROR(ReadObject(item, out));
    return absl::OkStatus();
  }
  if (kind == "CustomResourceDefinition") return absl::OkStatus();
  const absl::StatusOr<kube::ApiVersion> version =
      kube::ApiVersion::Parse(node.FindText("apiVersion"));
  const Node* metadata = node.Find("metadata");
  if (kind.empty() || !version.ok() || version->version.empty() || metadata == nullptr ||
      metadata->FindText("name").empty()) {
    return Bad(node, "apiVersion, kind and metadata.name are needed");
  }
  ManifestJson one;
  one.kind = KindOf(*version, kind);
  json object = scaler::JsonOf<json>(node);
  RETURN_IF_ERROR(CheckFields(node, *metadata, object));
  if (kind == kProcessSetKind) {
    ASSIGN_OR_RETURN(const ProcessSetSpec spec, ReadProcessSet(node));
    object["spec"]["replicas"] = spec.replicas;
  }
  std::string place;
  if (one.kind.namespaced) {
    std::string ns(metadata->FindText("namespace"));
    if (ns.empty()) ns = "default";
    object["metadata"]["namespace"] = ns;
    place = absl::StrCat("namespaces/", ns, "/");
  }
  one.path = absl::StrCat(
      version->group.empty() ? "/api/" : absl::StrCat("/apis/", version->group, "/"),
      version->version, "/", place, one.kind.name.resource, "/", metadata->FindText("name"));
  one.object = object.dump(-1, ' ', false, json::error_handler_t::replace);
  if (!json::accept(one.object)) return Bad(node, "it has a number that is too large");
  out.push_back(std::move(one));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<ManifestJson>> ReadManifestJson(absl::string_view text) {
  ASSIGN_OR_RETURN(const std::vector<Node> documents, scaler::ParseDocuments(text));
  std::vector<ManifestJson> out;
  for (const Node& document : documents) RETURN_IF_ERROR(ReadObject(document, out));
  return out;
}

}  // namespace flyball::processes
