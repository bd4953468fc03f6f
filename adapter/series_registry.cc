#include "adapter/series_registry.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace flyball::adapter {
namespace {

bool ListedBefore(const CustomMetricInfo& a, const CustomMetricInfo& b) {
  return std::tie(a.resource.resource, a.resource.group, a.metric, a.namespaced) <
         std::tie(b.resource.resource, b.resource.group, b.metric, b.namespaced);
}

bool ListedBefore(absl::string_view a, absl::string_view b) { return a < b; }

template <typename T>
std::shared_ptr<const T> Reuse(T value, const std::shared_ptr<const T>& previous) {
  if (previous != nullptr && *previous == value) return previous;
  return std::make_shared<const T>(std::move(value));
}

}  // namespace

SeriesTable::SeriesTable(std::vector<SeriesName> found) {
  std::map<std::vector<std::string>, uint32_t> known;
  series_.reserve(found.size());
  for (SeriesName& name : found) {
    const auto [it, added] =
        known.try_emplace(std::move(name.labels), static_cast<uint32_t>(label_sets_.size()));
    if (added) label_sets_.push_back(it->first);
    series_.push_back({std::move(name.name), it->second});
  }
}

template <typename Name>
template <typename Key>
MetricSeries SeriesRegistry::Names<Name>::Find(const Key& name) const {
  const auto at = std::lower_bound(list->begin(), list->end(), name,
                                   [](const auto& a, const auto& b) { return ListedBefore(a, b); });
  if (at == list->end() || *at != name) return {};
  const Target& target = targets[static_cast<size_t>(at - list->begin())];
  return {rules[target.rule], target.series};
}

class RegistryBuilder {
 public:
  // Names in the order of writing.
  template <typename Name>
  using Written = std::vector<std::pair<Name, SeriesRegistry::Target>>;

  explicit RegistryBuilder(const kube::RestMapper& mapper) : mapper_(mapper) {}

  // Fills `out` with the names that `write` makes of each rule's series; `write` returns how many
  // it accepts. If a name is written twice the last one counts.
  template <typename Name, typename Write>
  static void Fill(const std::vector<DiscoveredRule>& discovered,
                   const std::shared_ptr<const std::vector<Name>>& previous, Write write,
                   SeriesRegistry::Names<Name>& out) {
    Written<Name> written;
    for (const DiscoveredRule& one : discovered) {
      const auto index = static_cast<uint32_t>(out.rules.size());
      out.rules.push_back(one.rule);
      out.counts.push_back(one.series == nullptr ? 0
                                                 : write(*one.rule, *one.series, index, written));
    }
    std::stable_sort(written.begin(), written.end(),
                     [](const auto& a, const auto& b) { return ListedBefore(a.first, b.first); });
    std::vector<Name> names;
    names.reserve(written.size());
    out.targets.reserve(written.size());
    for (size_t i = 0; i < written.size(); ++i) {
      if (i + 1 < written.size() && written[i].first == written[i + 1].first) continue;
      names.push_back(std::move(written[i].first));
      out.targets.push_back(std::move(written[i].second));
    }
    out.list = Reuse(std::move(names), previous);
  }

  size_t WriteCustom(const rules::CompiledRule& rule, const SeriesTable& table, uint32_t index,
                     Written<CustomMetricInfo>& out) const {
    LabelMemo memo;
    std::vector<std::optional<std::vector<Scope>>> scopes(table.label_sets().size());
    size_t accepted = 0;
    for (const SeriesTable::Series& series : table.series()) {
      if (!rule.naming.Accepts(series.name)) continue;
      ++accepted;
      auto& resources = scopes[series.label_set];
      if (!resources) resources = ScopesOf(rule, table.label_sets()[series.label_set], memo);
      if (resources->empty()) continue;
      const std::string metric = rule.naming.ApiName(series.name);
      for (const Scope& scope : *resources) {
        out.push_back({{scope.resource, scope.namespaced, metric}, {index, series.name}});
      }
    }
    return accepted;
  }

  static size_t WriteExternal(const rules::CompiledRule& rule, const SeriesTable& table,
                              uint32_t index, Written<std::string>& out) {
    size_t accepted = 0;
    for (const SeriesTable::Series& series : table.series()) {
      if (!rule.naming.Accepts(series.name)) continue;
      ++accepted;
      out.push_back({rule.naming.ApiName(series.name), {index, series.name}});
    }
    return accepted;
  }

 private:
  struct Scope {
    kube::GroupResource resource;
    bool namespaced = true;
  };
  // What each label is, for one rule; nullptr: no resource.
  using LabelMemo = absl::flat_hash_map<std::string, const kube::ResourceInfo*>;

  std::vector<Scope> ScopesOf(const rules::CompiledRule& rule,
                              const std::vector<std::string>& labels, LabelMemo& memo) const {
    std::vector<Scope> scopes;
    for (const std::string& label : labels) {
      const auto [known, fresh] = memo.try_emplace(label, nullptr);
      if (fresh) known->second = rule.mapping.ResourceOfLabel(label, mapper_);
      const kube::ResourceInfo* info = known->second;
      if (info == nullptr) continue;
      scopes.push_back({info->name, info->namespaced && !IsCoreClusterScoped(info->name)});
    }
    return scopes;
  }

  const kube::RestMapper& mapper_;
};

std::shared_ptr<const SeriesRegistry> SeriesRegistry::Build(
    const Inputs& inputs, const std::shared_ptr<const SeriesRegistry>& previous) {
  // make_shared cannot reach the private constructor.
  std::shared_ptr<SeriesRegistry> built(new SeriesRegistry);
  built->mapper_ = inputs.mapper;
  const RegistryBuilder builder(*inputs.mapper);
  RegistryBuilder::Fill(
      inputs.custom, previous == nullptr ? nullptr : previous->custom_.list,
      [&](auto&&... args) { return builder.WriteCustom(args...); }, built->custom_);
  RegistryBuilder::Fill(inputs.external, previous == nullptr ? nullptr : previous->external_.list,
                        RegistryBuilder::WriteExternal, built->external_);
  const bool same = previous != nullptr && built->mapper_ == previous->mapper_ &&
                    built->custom_ == previous->custom_ && built->external_ == previous->external_;
  return same ? previous : built;
}

bool IsCoreClusterScoped(const kube::GroupResource& resource) {
  return resource.group.empty() &&
         (resource.resource == "namespaces" || resource.resource == "nodes" ||
          resource.resource == "persistentvolumes");
}

MetricSeries SeriesRegistry::FindCustom(const kube::ResourceInfo& resource, bool namespaced,
                                        absl::string_view metric) const {
  const auto find = [&](bool in_namespace) {
    return custom_.Find(CustomMetricInfo{
        .resource = resource.name, .namespaced = in_namespace, .metric = std::string(metric)});
  };
  MetricSeries found = find(namespaced);
  if (found.rule == nullptr && namespaced && !resource.namespaced &&
      !IsCoreClusterScoped(resource.name)) {
    found = find(false);
  }
  return found;
}

std::vector<std::vector<std::string>> SeriesRegistry::CustomNames() const {
  std::vector<std::vector<std::string>> names(custom_.rules.size());
  for (size_t i = 0; i < custom_.targets.size(); ++i) {
    const CustomMetricInfo& info = (*custom_.list)[i];
    names[custom_.targets[i].rule].push_back(
        absl::StrCat(info.resource.ToString(), "/", info.metric));
  }
  return names;
}

std::vector<std::vector<std::string>> SeriesRegistry::ExternalNames() const {
  std::vector<std::vector<std::string>> names(external_.rules.size());
  for (size_t i = 0; i < external_.targets.size(); ++i) {
    names[external_.targets[i].rule].push_back((*external_.list)[i]);
  }
  return names;
}

MetricSeries SeriesRegistry::FindExternal(absl::string_view metric) const {
  return external_.Find(metric);
}

}  // namespace flyball::adapter
