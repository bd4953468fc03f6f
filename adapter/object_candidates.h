// Finds the objects for an answer of metrics.k8s.io.
//
// Thread-safe, as the directory is. Errors are those of the directory and of the filter's
// AdmitList, and kNotFound if one object is asked for by a name that does not exist.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "adapter/provider.h"
#include "kube/objects/object_directory.h"

namespace flyball::adapter {

// `name` "": the objects of the query that the filter takes. Otherwise the object of that name,
// whether or not the filter takes it. The resource is pods or nodes; the query has no selector.
absl::StatusOr<std::vector<kube::ObjectPtr>> ObjectCandidates(kube::ObjectDirectory& directory,
                                                              kube::ObjectQuery query,
                                                              absl::string_view name,
                                                              const ObjectFilter& filter);

}  // namespace flyball::adapter
