// An object directory of objects that never change, for tests of rules.
//
// Immutable once built, hence thread-safe.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "kube/objects/manifest_objects.h"
#include "kube/objects/object_directory.h"

namespace flyball::rule_tests {

class FixedDirectory : public kube::ObjectDirectory {
 public:
  explicit FixedDirectory(const std::vector<const kube::ManifestObject*>& objects)
      : objects_(objects) {}

  absl::StatusOr<std::vector<kube::ObjectPtr>> List(const kube::ObjectQuery& query) override {
    ASSIGN_OR_RETURN(const kube::ObjectTable* table,
                     objects_.TableFor(query.resource, query.running_only));
    return table->Select(query.ns, query.selector);
  }
  absl::StatusOr<kube::ObjectPtr> Get(const kube::GroupResource& resource, absl::string_view ns,
                                      absl::string_view name, bool running_only) override {
    ASSIGN_OR_RETURN(const kube::ObjectTable* table, objects_.TableFor(resource, running_only));
    return table->Find(ns, name);
  }
  std::shared_ptr<const kube::RestMapper> mapper() const override { return objects_.mapper(); }
  uint64_t Generation() const override { return 1; }

 private:
  const kube::ManifestObjects objects_;
};

}  // namespace flyball::rule_tests
