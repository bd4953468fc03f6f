#include "rules/resource_mapping.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status_macros.h"

namespace flyball::rules {
namespace {

// The template as a pattern for the labels that it makes.
absl::StatusOr<go::Regexp> PatternOf(const QueryTemplate& label_template) {
  ASSIGN_OR_RETURN(const std::string text, label_template.Execute(kube::GroupResource{
                                               "(?P<group>.+?)", "(?P<resource>.+?)"}));
  if (text.empty()) return absl::InvalidArgumentError("gives an empty label");
  ASSIGN_OR_RETURN(go::Regexp pattern, go::Regexp::Compile(absl::StrCat("^", text, "$")));
  const auto& names = pattern.group_names();
  if (std::find(names.begin(), names.end(), "resource") == names.end()) {
    return absl::InvalidArgumentError("does not use <<.Resource>>, so no label tells a resource");
  }
  return pattern;
}

bool IsNamespace(absl::string_view group, absl::string_view resource) {
  return group.empty() && GuessSingular(resource) == "namespace";
}

}  // namespace

std::string GuessSingular(absl::string_view resource) {
  std::string name = absl::AsciiStrToLower(resource);
  if (name.size() > 1 && name.back() == 's') name.pop_back();
  return name;
}

bool IsKnownInNamespaces(absl::string_view group, absl::string_view resource) {
  constexpr absl::string_view kCore[] = {"configmap",
                                         "endpoint",
                                         "event",
                                         "limitrange",
                                         "persistentvolumeclaim",
                                         "pod",
                                         "podtemplate",
                                         "secret",
                                         "replicationcontroller",
                                         "resourcequota",
                                         "service",
                                         "serviceaccount"};
  if (!group.empty()) return group == "apps" || group == "batch";
  return absl::c_linear_search(kCore, GuessSingular(resource));
}

std::optional<ResourceMapping> ResourceMapping::Compile(const MappingConfig& config,
                                                        const std::string& path,
                                                        Findings& findings) {
  ResourceMapping mapping;
  bool good = true;
  if (const TextField& field = config.label_template; !field.text.empty()) {
    auto parsed = QueryTemplate::ParseLabel(field.text);
    if (parsed.ok()) {
      auto pattern = PatternOf(*parsed);
      if (pattern.ok()) {
        mapping.pattern_ = *std::move(pattern);
      } else {
        findings.Error(field.place, path + ".template",
                       absl::StrCat("the template ", pattern.status().message(),
                                    ", expected one such as \"<<.Resource>>\""));
        good = false;
      }
      mapping.template_ = *std::move(parsed);
    } else {
      findings.Error(field.place, path + ".template",
                     absl::StrCat("bad template at ", parsed.status().message()));
      good = false;
    }
  }
  for (const OverrideConfig& item : config.overrides) {
    if (item.resource.text.empty()) {
      findings.Error(item.label.place,
                     absl::StrCat(path, ".overrides.", item.label.text, ".resource"),
                     "is missing, expected the name of a resource such as \"pod\"");
      good = false;
    }
    mapping.overrides_.push_back({item.label.text, item.group.text, item.resource.text});
  }
  if (!good) return std::nullopt;
  return mapping;
}

const kube::ResourceInfo* ResourceMapping::ResourceOfLabel(absl::string_view label,
                                                           const kube::RestMapper& mapper) const {
  for (const Override& item : overrides_) {
    if (item.label == label) return mapper.Find(item.group, item.resource);
  }
  if (!pattern_) return nullptr;
  const auto match = pattern_->Find(label);
  if (!match) return nullptr;
  absl::string_view group, resource;
  const auto& group_names = pattern_->group_names();
  for (size_t i = 1; i < group_names.size(); ++i) {
    if (group_names[i] == "group") group = (*match)[i];
    if (group_names[i] == "resource") resource = (*match)[i];
  }
  return mapper.Find(group, resource);
}

absl::StatusOr<std::string> ResourceMapping::LabelOfResource(const kube::GroupResource& resource,
                                                             const kube::RestMapper& mapper) const {
  for (auto it = overrides_.rbegin(); it != overrides_.rend(); ++it) {
    const kube::ResourceInfo* info = mapper.Find(it->group, it->resource);
    if (info != nullptr && info->name == resource) return it->label;
  }
  if (!template_) {
    return absl::NotFoundError(absl::StrCat("the rule has no label for ", resource.ToString(),
                                            ": neither an override nor a template"));
  }
  // As in the original the singular is that of the first group that has such a resource.
  const kube::ResourceInfo* info = mapper.Find("", resource.resource);
  if (info == nullptr) {
    return absl::NotFoundError(absl::StrCat(
        "the cluster's resources are not known yet, or have no ", resource.ToString()));
  }
  const auto label = template_->Execute(
      kube::GroupResource{.group = absl::StrReplaceAll(resource.group, {{".", "_"}, {"-", "_"}}),
                          .resource = info->singular});
  if (!label.ok() || label->empty()) {
    return absl::NotFoundError(
        absl::StrCat("the rule's template gives no label for ", resource.ToString(),
                     label.ok() ? "" : absl::StrCat(": ", label.status().message())));
  }
  return *label;
}

std::string ResourceMapping::NamespaceLabel() const {
  for (auto it = overrides_.rbegin(); it != overrides_.rend(); ++it) {
    if (IsNamespace(it->group, it->resource)) return it->label;
  }
  if (!template_) return "";
  return template_->Execute(kube::GroupResource{"", "namespace"}).value_or("");
}

bool ResourceMapping::RequestsNameNamespaces() const {
  return !template_ && std::all_of(overrides_.begin(), overrides_.end(), [](const Override& item) {
    return IsNamespace(item.group, item.resource) || IsKnownInNamespaces(item.group, item.resource);
  });
}

}  // namespace flyball::rules
