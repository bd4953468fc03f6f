#include "adapter/mapper_names.h"

namespace flyball::adapter {
namespace {

rules::LabelRequirement::Op ForRules(kube::Operator op) {
  using Op = rules::LabelRequirement::Op;
  switch (op) {
    case kube::Operator::kIn:
      return Op::kIn;
    case kube::Operator::kNotIn:
      return Op::kNotIn;
    case kube::Operator::kEquals:
    case kube::Operator::kDoubleEquals:
      return Op::kEquals;
    case kube::Operator::kNotEquals:
      return Op::kNotEquals;
    case kube::Operator::kExists:
      return Op::kExists;
    case kube::Operator::kDoesNotExist:
      return Op::kDoesNotExist;
    case kube::Operator::kGreaterThan:
      return Op::kGreaterThan;
    case kube::Operator::kLessThan:
      return Op::kLessThan;
  }
  return Op::kEquals;
}

}  // namespace

std::optional<rules::GroupResource> MapperNames::Normalize(absl::string_view group,
                                                           absl::string_view resource) const {
  const kube::ResourceInfo* info = mapper_->Find(group, resource);
  if (info == nullptr) return std::nullopt;
  return ForRules(info->name);
}

std::string MapperNames::Singular(const rules::GroupResource& resource) const {
  const kube::ResourceInfo* info = mapper_->Find(resource.group, resource.resource);
  return info == nullptr ? resource.resource : info->singular;
}

rules::GroupResource ForRules(const kube::GroupResource& resource) {
  return {.group = resource.group, .resource = resource.resource};
}

kube::GroupResource ForKube(const rules::GroupResource& resource) {
  return {.group = resource.group, .resource = resource.resource};
}

std::vector<rules::LabelRequirement> ForRules(const kube::Selector& selector) {
  std::vector<rules::LabelRequirement> requirements;
  requirements.reserve(selector.requirements().size());
  for (const kube::Requirement& requirement : selector.requirements()) {
    requirements.push_back(
        {.key = requirement.key, .op = ForRules(requirement.op), .values = requirement.values});
  }
  return requirements;
}

}  // namespace flyball::adapter
