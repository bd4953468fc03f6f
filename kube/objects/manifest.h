// Reads Kubernetes objects in YAML or JSON, as far as the directory of a rule test needs them.
//
// Pure. Several documents in one file, and List kinds, are split into their objects. Fields that
// are not named here are ignored.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/objects/object_directory.h"
#include "kube/objects/rest_mapping.h"

namespace flyball::kube {

struct ManifestObject {
  std::string group;  // "" is core
  std::string version;
  std::string kind;
  ObjectMeta meta;
  bool running = true;  // status.phase is absent or Running
  // What a CustomResourceDefinition defines.
  std::optional<ResourceInfo> defines;
};

// In the order of the file. kInvalidArgument with `file:line:column: what` for the first thing that
// is wrong: broken YAML, a document without apiVersion, kind or metadata.name, a List in a List.
absl::StatusOr<std::vector<ManifestObject>> ReadManifest(const std::string& text,
                                                         absl::string_view file);

// "Widget" -> "widgets", "Policy" -> "policies", "Class" -> "classes": how client-go guesses.
std::string GuessPlural(absl::string_view kind);

}  // namespace flyball::kube
