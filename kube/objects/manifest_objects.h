// The objects of manifests by resource, from which a directory of files answers.
//
// Immutable, hence thread-safe. Resources are those of every cluster, those that
// CustomResourceDefinitions among the objects define, and for other kinds a guess: plural from the
// kind, namespaced if its first object has a namespace. An object of a namespaced kind without a
// namespace is in "default". Of two objects with the same name the later one counts.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "kube/objects/manifest.h"
#include "kube/objects/object_directory.h"
#include "kube/objects/object_table.h"
#include "kube/objects/rest_mapping.h"

namespace flyball::kube {

class ManifestObjects {
 public:
  explicit ManifestObjects(const std::vector<const ManifestObject*>& objects);

  // All objects of a resource; with `running_only` only running pods. kNotFound: the resource is
  // not known.
  absl::StatusOr<const ObjectTable*> TableFor(const GroupResource& resource,
                                              bool running_only) const;
  const std::shared_ptr<const RestMapper>& mapper() const { return mapper_; }

 private:
  std::shared_ptr<const RestMapper> mapper_;
  // All objects, and those that run.
  std::map<GroupResource, std::pair<ObjectTable, ObjectTable>> tables_;
};

}  // namespace flyball::kube
