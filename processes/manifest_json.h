// Converts the objects of a manifest to the JSON that an API server stores, with the paths of its
// API.
//
// Pure. Kinds that not every cluster has count as namespaced, with the plural that client-go
// guesses. ProcessSet has a scale. CustomResourceDefinitions are left out.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/objects/rest_mapping.h"

namespace flyball::processes {

struct ManifestJson {
  kube::ResourceInfo kind;
  std::string path;    // "/apis/apps/v1/namespaces/shop/deployments/web"
  std::string object;  // JSON, with its namespace
};

// All objects, with lists replaced by their items. kInvalidArgument: the text is no YAML, a
// document is no object, a field that all objects have is of a wrong type, a number is beyond the
// range of a double, or a ProcessSet is not valid.
absl::StatusOr<std::vector<ManifestJson>> ReadManifestJson(absl::string_view text);

}  // namespace flyball::processes
