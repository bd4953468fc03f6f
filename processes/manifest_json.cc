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

absl::Status ReadObject(const Node& node, std::vector<ManifestJson>& out) {
  const auto bad = [&node](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("line ", node.line, ": ", what));
  };
  if (!node.is_map()) return bad("this is no object: a map was expected");
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
    return bad("apiVersion, kind and metadata.name are needed");
  }
  ManifestJson one;
  one.kind = KindOf(*version, kind);
  json object = scaler::JsonOf<json>(node);
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
