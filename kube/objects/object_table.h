// The objects of one resource at one moment, sorted, by namespace.
//
// Immutable, hence thread-safe. A changed table shares every namespace that did not change.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "kube/objects/object_directory.h"
#include "kube/objects/selector.h"

namespace flyball::kube {

struct ObjectChange {
  ObjectPtr object;
  bool deleted = false;
};

class ObjectTable {
 public:
  ObjectTable() = default;
  // Any order; of objects with the same namespace and name the last counts.
  explicit ObjectTable(std::vector<ObjectPtr> objects);

  // This table after `changes`, in their order; nullptr if they change nothing (an object with the
  // same labels, a deletion of an object that does not exist). The cost is that of copying the
  // changed namespaces.
  std::shared_ptr<const ObjectTable> With(const std::vector<ObjectChange>& changes) const;

  // nullptr if absent.
  ObjectPtr Find(absl::string_view ns, absl::string_view name) const;

  // Sorted by namespace and name. `ns` "" is all namespaces.
  std::vector<ObjectPtr> Select(absl::string_view ns, const Selector& selector) const;

  size_t size() const { return size_; }
  // Whether both hold the same names and labels.
  bool SameAs(const ObjectTable& other) const;

 private:
  using Bucket = std::vector<ObjectPtr>;  // one namespace, sorted by name, never empty
  using Buckets = std::vector<std::pair<std::string, std::shared_ptr<const Bucket>>>;

  const Bucket* FindBucket(absl::string_view ns) const;

  Buckets buckets_;  // sorted by namespace
  size_t size_ = 0;
};

}  // namespace flyball::kube
