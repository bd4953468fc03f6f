// Maps Prometheus labels to Kubernetes resources and back, for one rule.
//
// Immutable; thread-safe; knows the cluster through the mapper that is passed in. The two
// directions are not inverses of each other: see the functions. Source: prometheus-adapter 0.12.0
// pkg/naming/lbl_res.go and resource_converter.go. If several overrides name one resource, the last
// in the file counts; the original picks one at random.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/go/regexp.h"
#include "kube/objects/rest_mapping.h"
#include "rules/config.h"
#include "rules/query_template.h"

namespace flyball::rules {

// A resource's name as far as it is known without a cluster: "pod" for pods, Pod and pod.
std::string GuessSingular(absl::string_view resource);
// Whether objects of that kind are in namespaces. Without a cluster this is known only for
// Kubernetes' own kinds; false for all others.
bool IsKnownInNamespaces(absl::string_view group, absl::string_view resource);

class ResourceMapping {
 public:
  // `path` is that of the mapping: "rules[0].resources". nullopt after an error.
  static std::optional<ResourceMapping> Compile(const MappingConfig& config,
                                                const std::string& path, Findings& findings);

  // For discovery: an override of that label, else what the template, turned into a pattern,
  // captures. nullptr: neither exists.
  const kube::ResourceInfo* ResourceOfLabel(absl::string_view label,
                                            const kube::RestMapper& mapper) const;
  // For queries: an override to that resource, else the template filled with the group (`.` and `-`
  // as `_`) and the singular name. kNotFound: neither, or the template fails or gives nothing,
  // or the mapper does not know the resource, so that its singular name would be a guess.
  absl::StatusOr<std::string> LabelOfResource(const kube::GroupResource& resource,
                                              const kube::RestMapper& mapper) const;

  // The label of namespaces as far as it is known without a cluster; "": none.
  std::string NamespaceLabel() const;
  // Whether each request for an object names a namespace, as far as is known without a cluster.
  bool RequestsNameNamespaces() const;

 private:
  struct Override {
    std::string label;
    std::string group, resource;  // as written
  };

  ResourceMapping() = default;

  std::vector<Override> overrides_;  // file order
  std::optional<QueryTemplate> template_;
  std::optional<go::Regexp> pattern_;  // the template's
};

}  // namespace flyball::rules
