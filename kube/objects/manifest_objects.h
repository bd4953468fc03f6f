// The objects of manifests by resource: what a directory of files answers from.
//
// Immutable, hence thread-safe. Resources are those of every cluster, those that
// CustomResourceDefinitions among the objects define, and for other kinds a guess: plural from the
// kind, namespaced if its first object has a namespace. An object without a namespace of a
// namespaced kind is in "default". Of two equal names the later object wins.
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

  // All objects of a resource; of pods, with `running_only`, those that run. kNotFound: the
  // resource is not known.
  absl::StatusOr<const ObjectTable*> TableFor(const GroupResource& resource,
                                              bool running_only) const;
  const std::shared_ptr<const RestMapper>& mapper() const { return mapper_; }

 private:
  std::shared_ptr<const RestMapper> mapper_;
  // All objects, and those that run.
  std::map<GroupResource, std::pair<ObjectTable, ObjectTable>> tables_;
};

}  // namespace flyball::kube
