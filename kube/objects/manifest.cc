#include "kube/objects/manifest.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/go/text.h"
#include "base/status_macros.h"
#include "kube/objects/api_version.h"
#include "kube/objects/yaml_text.h"
#include "yaml-cpp/yaml.h"

namespace flyball::kube {
namespace {

// Its methods throw YAML::Exception for a value of the wrong shape; ReadManifest catches.
class Reader {
 public:
  explicit Reader(absl::string_view file) : file_(file) {}

  absl::Status ReadDocument(const YAML::Node& document) {
    if (!document.IsDefined() || document.IsNull()) return absl::OkStatus();
    if (!document.IsMap()) return Bad(document, "this is no object: a map was expected");
    const std::string kind = Text(document, "kind");
    if (!absl::EndsWith(kind, "List") || !document["items"]) return ReadObject(document, "", "");
    if (!document["items"].IsSequence()) {
      return document["items"].IsNull() ? absl::OkStatus()
                                        : Bad(document["items"], "items: a list was expected");
    }
    const std::string item_kind(absl::StripSuffix(kind, "List"));
    for (const YAML::Node& item : document["items"]) {
      if (!item.IsMap()) return Bad(item, "this is no object: a map was expected");
      if (item["items"]) return Bad(item, "a List inside a List");
      RETURN_IF_ERROR(ReadObject(item, Text(document, "apiVersion"), item_kind));
    }
    return absl::OkStatus();
  }

  std::vector<ManifestObject> Take() { return std::move(objects_); }

 private:
  absl::Status Bad(const YAML::Node& node, absl::string_view what) const {
    return absl::InvalidArgumentError(
        absl::StrCat(file_, ":", node.Mark().line + 1, ":", node.Mark().column + 1, ": ", what));
  }

  static std::string Text(const YAML::Node& node, const char* key) {
    const YAML::Node value = node[key];
    return value && !value.IsNull() ? value.as<std::string>() : std::string();
  }

  // The items of a PodList need not repeat what they are.
  absl::Status ReadObject(const YAML::Node& node, const std::string& list_version,
                          const std::string& list_kind) {
    ManifestObject object;
    std::string api_version = Text(node, "apiVersion");
    object.kind = Text(node, "kind");
    if (api_version.empty() && !list_kind.empty()) api_version = list_version;
    if (object.kind.empty()) object.kind = list_kind;
    if (api_version.empty()) return Bad(node, "the object has no apiVersion");
    if (object.kind.empty()) return Bad(node, "the object has no kind");
    absl::StatusOr<ApiVersion> version = ApiVersion::Parse(api_version);
    if (!version.ok()) return Bad(node, version.status().message());
    object.group = std::move(version->group);
    object.version = std::move(version->version);
    const YAML::Node metadata = node["metadata"];
    if (!metadata || !metadata.IsMap() || Text(metadata, "name").empty()) {
      return Bad(node, absl::StrCat("the ", object.kind, " has no metadata.name"));
    }
    object.meta.name = Text(metadata, "name");
    object.meta.ns = Text(metadata, "namespace");
    if (const YAML::Node labels = metadata["labels"]; labels && !labels.IsNull()) {
      if (!labels.IsMap()) return Bad(labels, "metadata.labels: a map was expected");
      for (const auto& label : labels) {
        object.meta.labels[label.first.as<std::string>()] =
            label.second.IsNull() ? "" : label.second.as<std::string>();
      }
    }
    if (const YAML::Node status = node["status"]; status && status.IsMap()) {
      const std::string phase = Text(status, "phase");
      object.running = phase.empty() || phase == "Running";
    }
    if (object.kind == "CustomResourceDefinition") {
      ASSIGN_OR_RETURN(object.defines, ReadDefinition(node));
    }
    objects_.push_back(std::move(object));
    return absl::OkStatus();
  }

  absl::StatusOr<ResourceInfo> ReadDefinition(const YAML::Node& node) const {
    const YAML::Node spec = node["spec"];
    if (!spec || !spec.IsMap() || !spec["names"] || !spec["names"].IsMap()) {
      return Bad(node, "the CustomResourceDefinition has no spec.names");
    }
    ResourceInfo info;
    info.name.group = Text(spec, "group");
    info.name.resource = absl::AsciiStrToLower(Text(spec["names"], "plural"));
    info.kind = Text(spec["names"], "kind");
    info.singular = Text(spec["names"], "singular");
    info.namespaced = Text(spec, "scope") != "Cluster";
    for (const YAML::Node& version : spec["versions"]) {
      if (info.version.empty()) info.version = Text(version, "name");
    }
    if (info.name.group.empty() || info.name.resource.empty() || info.kind.empty()) {
      return Bad(spec, "spec.group, spec.names.plural and spec.names.kind are needed");
    }
    return info;
  }

  const std::string file_;
  std::vector<ManifestObject> objects_;
};

}  // namespace

absl::StatusOr<std::vector<ManifestObject>> ReadManifest(const std::string& text,
                                                         absl::string_view file) {
  if (const size_t at = go::FindNoUtf8(text); at != std::string::npos) {
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<long>(at), '\n');
    return absl::InvalidArgumentError(absl::StrCat(file, ":", line, ": not UTF-8"));
  }
  try {
    Reader reader(file);
    for (const YAML::Node& document : LoadYamlDocuments(text)) {
      RETURN_IF_ERROR(reader.ReadDocument(document));
    }
    return reader.Take();
  } catch (const YAML::Exception& bad) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ":", bad.mark.line + 1, ":", bad.mark.column + 1, ": ", bad.msg));
  }
}

std::string GuessPlural(absl::string_view kind) {
  const std::string singular = absl::AsciiStrToLower(kind);
  if (absl::EndsWith(singular, "endpoints")) return singular;
  if (absl::EndsWith(singular, "s")) return singular + "es";
  if (absl::EndsWith(singular, "y")) return absl::StrCat(absl::StripSuffix(singular, "y"), "ies");
  return singular + "s";
}

}  // namespace flyball::kube
