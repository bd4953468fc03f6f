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

// Drops every entry but the last of each run of equal keys.
template <typename Entry, typename Equal>
void KeepLast(std::vector<Entry>& entries, Equal equal) {
  size_t kept = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i + 1 < entries.size() && equal(entries[i].first, entries[i + 1].first)) continue;
    if (kept != i) entries[kept] = std::move(entries[i]);
    ++kept;
  }
  entries.resize(kept);
}

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

// Collects entries in the order of writing, then sorts them stably and keeps the last of each key.
class RegistryBuilder {
 public:
  explicit RegistryBuilder(const kube::RestMapper& mapper) : mapper_(mapper) {}

  size_t AddCustom(const DiscoveredRule& discovered, uint32_t index) {
    if (discovered.series == nullptr) return 0;
    const rules::CompiledRule& rule = *discovered.rule;
    const SeriesTable& table = *discovered.series;
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
        custom_.push_back({{scope.resource, scope.namespaced, metric}, {index, series.name}});
      }
    }
    return accepted;
  }

  size_t AddExternal(const DiscoveredRule& discovered, uint32_t index) {
    if (discovered.series == nullptr) return 0;
    size_t accepted = 0;
    for (const SeriesTable::Series& series : discovered.series->series()) {
      if (!discovered.rule->naming.Accepts(series.name)) continue;
      ++accepted;
      external_.push_back({discovered.rule->naming.ApiName(series.name), {index, series.name}});
    }
    return accepted;
  }

  void Finish(SeriesRegistry& registry, const SeriesRegistry* previous) {
    std::stable_sort(custom_.begin(), custom_.end(),
                     [](const auto& a, const auto& b) { return ListedBefore(a.first, b.first); });
    KeepLast(custom_, [](const auto& a, const auto& b) { return a == b; });
    std::vector<CustomMetricInfo> custom;
    custom.reserve(custom_.size());
    registry.custom_targets_.reserve(custom_.size());
    for (auto& [info, target] : custom_) {
      custom.push_back(std::move(info));
      registry.custom_targets_.push_back(std::move(target));
    }
    registry.custom_list_ =
        Reuse(std::move(custom), previous == nullptr ? nullptr : previous->custom_list_);

    std::stable_sort(external_.begin(), external_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    KeepLast(external_, [](const auto& a, const auto& b) { return a == b; });
    std::vector<std::string> external;
    external.reserve(external_.size());
    registry.external_targets_.reserve(external_.size());
    for (auto& [name, target] : external_) {
      external.push_back(std::move(name));
      registry.external_targets_.push_back(std::move(target));
    }
    registry.external_list_ =
        Reuse(std::move(external), previous == nullptr ? nullptr : previous->external_list_);
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
  std::vector<std::pair<CustomMetricInfo, SeriesRegistry::Target>> custom_;
  std::vector<std::pair<std::string, SeriesRegistry::Target>> external_;
};

std::shared_ptr<const SeriesRegistry> SeriesRegistry::Build(
    const Inputs& inputs, const std::shared_ptr<const SeriesRegistry>& previous) {
  // make_shared cannot reach the private constructor.
  std::shared_ptr<SeriesRegistry> built(new SeriesRegistry);
  built->mapper_ = inputs.mapper;
  RegistryBuilder builder(*built->mapper_);
  for (const DiscoveredRule& discovered : inputs.custom) {
    const auto index = static_cast<uint32_t>(built->custom_rules_.size());
    built->custom_rules_.push_back(discovered.rule);
    built->custom_counts_.push_back(builder.AddCustom(discovered, index));
  }
  for (const DiscoveredRule& discovered : inputs.external) {
    const auto index = static_cast<uint32_t>(built->external_rules_.size());
    built->external_rules_.push_back(discovered.rule);
    built->external_counts_.push_back(builder.AddExternal(discovered, index));
  }
  builder.Finish(*built, previous.get());
  if (previous != nullptr && built->SameAs(*previous)) return previous;
  return built;
}

bool SeriesRegistry::SameAs(const SeriesRegistry& other) const {
  return mapper_ == other.mapper_ && custom_list_ == other.custom_list_ &&
         external_list_ == other.external_list_ && custom_rules_ == other.custom_rules_ &&
         external_rules_ == other.external_rules_ && custom_counts_ == other.custom_counts_ &&
         external_counts_ == other.external_counts_ && custom_targets_ == other.custom_targets_ &&
         external_targets_ == other.external_targets_;
}

bool IsCoreClusterScoped(const kube::GroupResource& resource) {
  return resource.group.empty() &&
         (resource.resource == "namespaces" || resource.resource == "nodes" ||
          resource.resource == "persistentvolumes");
}

MetricSeries SeriesRegistry::FindExact(const kube::GroupResource& resource, bool namespaced,
                                       absl::string_view metric) const {
  const CustomMetricInfo wanted = {
      .resource = resource, .namespaced = namespaced, .metric = std::string(metric)};
  const auto it =
      std::lower_bound(custom_list_->begin(), custom_list_->end(), wanted, ListedBefore);
  if (it == custom_list_->end() || *it != wanted) return {};
  const Target& target = custom_targets_[static_cast<size_t>(it - custom_list_->begin())];
  return {custom_rules_[target.rule], target.series};
}

MetricSeries SeriesRegistry::FindCustom(const kube::ResourceInfo& resource, bool namespaced,
                                        absl::string_view metric) const {
  MetricSeries found = FindExact(resource.name, namespaced, metric);
  if (found.rule == nullptr && namespaced && !resource.namespaced &&
      !IsCoreClusterScoped(resource.name)) {
    found = FindExact(resource.name, false, metric);
  }
  return found;
}

MetricSeries SeriesRegistry::FindExternal(absl::string_view metric) const {
  const auto it = std::lower_bound(external_list_->begin(), external_list_->end(), metric);
  if (it == external_list_->end() || *it != metric) return {};
  const Target& target = external_targets_[static_cast<size_t>(it - external_list_->begin())];
  return {external_rules_[target.rule], target.series};
}

}  // namespace flyball::adapter
