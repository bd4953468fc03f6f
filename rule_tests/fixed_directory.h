// An object directory of objects that never change, for tests of rules.
//
// Immutable once built, hence thread-safe. Knows the usual built-in resources of a cluster and
// those that it is told of.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kube/objects/manifest.h"
#include "kube/objects/object_directory.h"
#include "kube/objects/object_table.h"
#include "kube/objects/rest_mapping.h"

namespace flyball::rule_tests {

class FixedDirectory : public kube::ObjectDirectory {
 public:
  explicit FixedDirectory(const std::vector<kube::ManifestObject>& objects);

  absl::StatusOr<std::vector<kube::ObjectPtr>> List(const kube::ObjectQuery& query) override;
  absl::StatusOr<kube::ObjectPtr> Get(const kube::GroupResource& resource, absl::string_view ns,
                                      absl::string_view name, bool running_only) override;
  std::shared_ptr<const kube::RestMapper> mapper() const override { return mapper_; }
  uint64_t Generation() const override { return 1; }

 private:
  struct Tables {
    kube::ObjectTable all, running;
  };
  const Tables* Find(const kube::GroupResource& resource) const;

  std::shared_ptr<const kube::RestMapper> mapper_;
  std::map<kube::GroupResource, Tables> tables_;  // one for each known resource
};

}  // namespace flyball::rule_tests
