// The objects of a manifest as the JSON that an API server stores, with the paths of its API.
//
// Pure. Kinds that are not those of every cluster are taken as namespaced, with the plural that
// client-go guesses; ProcessSet has a scale. Definitions of kinds are left out.
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

// The items of lists among them. kInvalidArgument: no YAML, no object, or a ProcessSet that is
// none.
absl::StatusOr<std::vector<ManifestJson>> ReadManifestJson(absl::string_view text);

}  // namespace flyball::processes
