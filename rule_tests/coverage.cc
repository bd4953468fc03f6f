#include "rule_tests/coverage.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace flyball::rule_tests {
namespace {

using Mark = std::shared_ptr<std::atomic<bool>>;

class MarkedRule : public rules::CompiledRule {
 public:
  MarkedRule(std::shared_ptr<const rules::CompiledRule> rule, Mark used)
      : rule_(std::move(rule)), used_(std::move(used)) {}

  const std::string& series_query() const override { return rule_->series_query(); }
  int index() const override { return rule_->index(); }
  const std::string& where() const override { return rule_->where(); }
  bool AcceptsSeries(absl::string_view series) const override {
    return rule_->AcceptsSeries(series);
  }
  std::string ApiName(absl::string_view series) const override { return rule_->ApiName(series); }
  const kube::ResourceInfo* ResourceOfLabel(absl::string_view label,
                                            const kube::RestMapper& names) const override {
    return rule_->ResourceOfLabel(label, names);
  }
  absl::StatusOr<std::string> LabelOfResource(const kube::GroupResource& resource,
                                              const kube::RestMapper& names) const override {
    return rule_->LabelOfResource(resource, names);
  }
  absl::StatusOr<std::string> ObjectQuery(const rules::ObjectQueryArgs& args,
                                          const kube::RestMapper& names) const override {
    used_->store(true);
    return rule_->ObjectQuery(args, names);
  }
  absl::StatusOr<std::string> ExternalQuery(absl::string_view series, absl::string_view ns,
                                            const std::vector<kube::Requirement>& selector,
                                            const kube::RestMapper& names) const override {
    used_->store(true);
    return rule_->ExternalQuery(series, ns, selector, names);
  }
  bool QueriesSeparateObjects() const override { return rule_->QueriesSeparateObjects(); }
  bool GroupsByNamespace() const override { return rule_->GroupsByNamespace(); }

 private:
  const std::shared_ptr<const rules::CompiledRule> rule_;
  const Mark used_;
};

class MarkedResourceRule : public rules::CompiledResourceRule {
 public:
  MarkedResourceRule(std::shared_ptr<const rules::CompiledResourceRule> rule, Mark used)
      : rule_(std::move(rule)), used_(std::move(used)) {}

  const std::string& container_label() const override { return rule_->container_label(); }
  absl::StatusOr<std::string> LabelOfResource(const kube::GroupResource& resource,
                                              const kube::RestMapper& names) const override {
    return rule_->LabelOfResource(resource, names);
  }
  absl::StatusOr<std::string> ContainerQuery(absl::string_view ns,
                                             const std::vector<std::string>& pods,
                                             const kube::RestMapper& names) const override {
    used_->store(true);
    return rule_->ContainerQuery(ns, pods, names);
  }
  absl::StatusOr<std::string> NodeQuery(const std::vector<std::string>& nodes,
                                        const kube::RestMapper& names) const override {
    used_->store(true);
    return rule_->NodeQuery(nodes, names);
  }

 private:
  const std::shared_ptr<const rules::CompiledResourceRule> rule_;
  const Mark used_;
};

}  // namespace

RuleCoverage::RuleCoverage(const rules::CompiledRules& rules) {
  auto marked = std::make_shared<rules::CompiledRules>(rules);
  const auto wrap = [this](std::vector<std::shared_ptr<const rules::CompiledRule>>& list,
                           absl::string_view name) {
    for (auto& rule : list) {
      Mark used = Add(rule->where(), absl::StrCat(name, "[", rule->index(), "]"));
      rule = std::make_shared<const MarkedRule>(std::move(rule), std::move(used));
    }
  };
  wrap(marked->custom, "rules");
  wrap(marked->external, "externalRules");
  if (marked->resource) {
    // Both halves are asked together.
    const Mark used = Add("", "resourceRules");
    for (auto* half : {&marked->resource->cpu, &marked->resource->memory}) {
      if (*half) *half = std::make_shared<const MarkedResourceRule>(std::move(*half), used);
    }
  }
  rules_ = std::move(marked);
}

Mark RuleCoverage::Add(std::string where, std::string field) {
  auto used = std::make_shared<std::atomic<bool>>(false);
  marks_.push_back({{std::move(where), std::move(field)}, used});
  return used;
}

std::vector<RuleCoverage::Unused> RuleCoverage::NeverAsked() const {
  std::vector<Unused> unused;
  for (const auto& [rule, used] : marks_) {
    if (!used->load()) unused.push_back(rule);
  }
  return unused;
}

}  // namespace flyball::rule_tests
