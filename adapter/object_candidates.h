// Finds the objects for an answer of metrics.k8s.io.
//
// Thread-safe, as the directory is. Errors are those of the directory, and kNotFound if one object
// is asked for by a name that does not exist.
#pragma once

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/objects/object_directory.h"

namespace flyball::adapter {

// `name` "": the objects of the query for which `wanted`, if set, is true. Otherwise the object of
// that name, whether or not it matches the rest. The resource is pods or nodes.
absl::StatusOr<std::vector<kube::ObjectPtr>> ObjectCandidates(
    kube::ObjectDirectory& directory, const kube::ObjectQuery& query, absl::string_view name,
    const std::function<bool(const kube::ObjectMeta&)>& wanted);

}  // namespace flyball::adapter
