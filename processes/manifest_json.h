// Converts the objects of a manifest to the JSON that an API server stores.
//
// Pure. As with kubectl, the items of a list that do not say what they are get the version and kind
// of the list. manifest_kinds.h says where each object is in the API.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/objects/api_version.h"
#include "kube/objects/rest_mapping.h"

namespace flyball::processes {

struct ManifestJson {
  kube::ApiVersion version;
  std::string kind;
  std::string ns;  // as written
  std::string name;
  std::string object;                         // JSON
  std::optional<kube::ResourceInfo> defines;  // by a CustomResourceDefinition
};

// All objects, with lists replaced by their items. kInvalidArgument: the text is no YAML, a
// document is no object, a field that all objects have is of a wrong type, a number is beyond the
// range of a double, or a ProcessSet or CustomResourceDefinition is not valid.
absl::StatusOr<std::vector<ManifestJson>> ReadManifestJson(absl::string_view text);

}  // namespace flyball::processes
