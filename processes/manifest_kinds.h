// The resource of each kind of object in a folder: its plural, and whether it has namespaces.
//
// Pure, immutable. Known are the kinds that every cluster has, the kinds of this program, and those
// that CustomResourceDefinitions of the folder define. Any other counts as namespaced, with the
// plural that client-go guesses. ProcessSet has a scale.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "kube/objects/rest_mapping.h"
#include "processes/manifest_json.h"

namespace flyball::processes {

class ManifestKinds {
 public:
  // Of two definitions of one kind the first counts, and what is known without them comes before.
  explicit ManifestKinds(absl::Span<const kube::ResourceInfo> defined);

  // The definitions that count.
  absl::Span<const kube::ResourceInfo> defined() const { return defined_; }
  // In the version of the object.
  kube::ResourceInfo Of(const ManifestJson& object) const;

 private:
  bool Add(kube::ResourceInfo info);

  std::map<std::pair<std::string, std::string>, kube::ResourceInfo> known_;  // by group and kind
  std::vector<kube::ResourceInfo> defined_;
};

// "/apis/apps/v1/namespaces/shop/deployments/web". An object of a namespaced kind that names no
// namespace is in "default"; another one is in none, whatever it names.
std::string PathOf(const ManifestJson& object, const kube::ResourceInfo& resource);

}  // namespace flyball::processes
