// Which objects an answer of metrics.k8s.io is about.
//
// Thread-safe, as the directory is. Errors are those of the directory, and kNotFound where one
// object is asked for by a name that none has.
#pragma once

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/objects/object_directory.h"

namespace flyball::adapter {

// `name` "": those of the query for which `wanted` (if there is one) holds. Else the object of that
// name, whatever else is asked for. The resource is pods or nodes.
absl::StatusOr<std::vector<kube::ObjectPtr>> ObjectCandidates(
    kube::ObjectDirectory& directory, const kube::ObjectQuery& query, absl::string_view name,
    const std::function<bool(const kube::ObjectMeta&)>& wanted);

}  // namespace flyball::adapter
