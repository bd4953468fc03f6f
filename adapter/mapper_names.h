// A cluster's REST mapping in the form that rules ask for.
//
// Immutable; thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kube/objects/rest_mapping.h"
#include "kube/objects/selector.h"
#include "rules/compiled_rules.h"

namespace flyball::adapter {

class MapperNames : public rules::ResourceNames {
 public:
  explicit MapperNames(std::shared_ptr<const kube::RestMapper> mapper)
      : mapper_(std::move(mapper)) {}

  std::optional<rules::GroupResource> Normalize(absl::string_view group,
                                                absl::string_view resource) const override;
  std::string Singular(const rules::GroupResource& resource) const override;

  const kube::RestMapper& mapper() const { return *mapper_; }

 private:
  std::shared_ptr<const kube::RestMapper> mapper_;
};

rules::GroupResource ForRules(const kube::GroupResource& resource);
kube::GroupResource ForKube(const rules::GroupResource& resource);

// A parsed selector as matchers see it: `==` is `=`.
std::vector<rules::LabelRequirement> ForRules(const kube::Selector& selector);

}  // namespace flyball::adapter
