// The series registry: which metric names the three APIs know and which series and rule each comes
// from, as one immutable table.
//
// Pure; built aside by the relister and swapped whole. Source: prometheus-adapter 0.12.0: rules
// apply in file order, series in the order of the answer, and the last writer of a key wins.
//
// Differs from the original: a cluster-scoped custom resource is registered as cluster-scoped, not
// as namespaced; FindCustom still finds it under a namespace.
//
// Limits: none of its own; about 200 bytes for each metric of each resource.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "adapter/provider.h"
#include "adapter/queries/metric_source.h"
#include "kube/objects/rest_mapping.h"
#include "rules/compiled_rules.h"

namespace flyball::adapter {

// The result of one series query. Series with the same label names share one list of them.
class SeriesTable {
 public:
  explicit SeriesTable(std::vector<SeriesName> found);

  struct Series {
    std::string name;
    uint32_t label_set = 0;  // index into label_sets()
    friend bool operator==(const Series&, const Series&) = default;
  };
  const std::vector<Series>& series() const { return series_; }
  const std::vector<std::vector<std::string>>& label_sets() const { return label_sets_; }

  friend bool operator==(const SeriesTable&, const SeriesTable&) = default;

 private:
  std::vector<Series> series_;
  std::vector<std::vector<std::string>> label_sets_;
};

// One rule and the result of its series query; nullptr: none yet.
struct DiscoveredRule {
  std::shared_ptr<const rules::CompiledRule> rule;
  std::shared_ptr<const SeriesTable> series;
};

// The series and rule of a metric name.
struct MetricSeries {
  std::shared_ptr<const rules::CompiledRule> rule;
  absl::string_view series;  // lives as long as the registry
};

// Core resources that the original registers as not namespaced; all others count as namespaced.
bool IsCoreClusterScoped(const kube::GroupResource& resource);

class SeriesRegistry {
 public:
  struct Inputs {
    std::vector<DiscoveredRule> custom, external;  // file order
    std::shared_ptr<const kube::RestMapper> mapper;
  };

  // Lists that are equal to those of `previous` (may be nullptr) are shared with it; if nothing at
  // all has changed, `previous` itself is returned.
  static std::shared_ptr<const SeriesRegistry> Build(
      const Inputs& inputs, const std::shared_ptr<const SeriesRegistry>& previous);

  // `namespaced`: the request has a namespace. Empty rule pointer: not found.
  MetricSeries FindCustom(const kube::ResourceInfo& resource, bool namespaced,
                          absl::string_view metric) const;
  MetricSeries FindExternal(absl::string_view metric) const;

  // Sorted by resource, group, metric.
  const std::shared_ptr<const std::vector<CustomMetricInfo>>& custom_list() const {
    return custom_.list;
  }
  // Sorted.
  const std::shared_ptr<const std::vector<std::string>>& external_list() const {
    return external_.list;
  }

  const std::shared_ptr<const kube::RestMapper>& mapper() const { return mapper_; }

  // How many distinct series each rule accepts, in file order.
  const std::vector<size_t>& custom_counts() const { return custom_.counts; }
  const std::vector<size_t>& external_counts() const { return external_.counts; }
  // What each rule offers, in file order: "pods/http_requests_per_second"; for external metrics
  // only the name. If several rules make a metric, it belongs to the one that counts.
  std::vector<std::vector<std::string>> CustomNames() const;
  std::vector<std::vector<std::string>> ExternalNames() const;

 private:
  friend class RegistryBuilder;

  struct Target {
    uint32_t rule = 0;  // index into `rules`
    std::string series;
    friend bool operator==(const Target&, const Target&) = default;
  };
  // The names of one API and the series and rule of each.
  template <typename Name>
  struct Names {
    std::shared_ptr<const std::vector<Name>> list;  // sorted
    std::vector<Target> targets;                    // beside the names of the list
    std::vector<std::shared_ptr<const rules::CompiledRule>> rules;
    std::vector<size_t> counts;  // beside the rules
    // Compares the pointers of the lists, not their content.
    friend bool operator==(const Names&, const Names&) = default;

    template <typename Key>
    MetricSeries Find(const Key& name) const;
  };

  SeriesRegistry() = default;

  Names<CustomMetricInfo> custom_;
  Names<std::string> external_;
  std::shared_ptr<const kube::RestMapper> mapper_;
};

}  // namespace flyball::adapter
