#include "doctor/metric.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/go/url.h"
#include "base/status_macros.h"
#include "doctor/cluster.h"
#include "kube/objects/api_version.h"
#include "rules/promql.h"

namespace flyball::doctor {
namespace {

using scaler::MetricSpec;
using scaler::MetricType;

constexpr size_t kMaxValues = 50;  // of one label
constexpr size_t kMaxLabels = 8;   // whose values are compared with names of objects
constexpr size_t kMaxSimilar = 5;
constexpr size_t kMaxPodsAsked = 200;  // in one query

// "?a=b&c=d" with the pairs that have a value.
std::string QueryOf(const std::vector<std::pair<std::string, std::string>>& parameters) {
  std::string query;
  for (const auto& [name, value] : parameters) {
    if (value.empty()) continue;
    absl::StrAppend(&query, query.empty() ? "?" : "&", name, "=", go::UrlEscape(value));
  }
  return query;
}

// The resource that a metric describes; nullptr if there is none or the cluster does not know it.
const kube::ResourceInfo* ResourceOf(const MetricSpec& spec, const kube::RestMapper& mapper) {
  if (spec.type == MetricType::kPods) return mapper.FindKind("", "Pod");
  if (spec.type != MetricType::kObject) return nullptr;
  return mapper.FindKind(kube::ApiVersion::GroupOf(spec.described_object.api_version),
                         spec.described_object.kind);
}

bool IsNamespaceItself(const MetricSpec& spec) {
  return spec.type == MetricType::kObject && spec.described_object.kind == "Namespace" &&
         kube::ApiVersion::GroupOf(spec.described_object.api_version).empty();
}

// Names with the same beginning as `name`, or that contain it or are contained in it.
std::vector<std::string> Similar(const std::string& name, const std::set<std::string>& names) {
  constexpr size_t kAlike = 5;
  const std::string lower = absl::AsciiStrToLower(name);
  std::vector<std::string> similar;
  for (const std::string& other : names) {
    const std::string there = absl::AsciiStrToLower(other);
    const bool alike = absl::StrContains(there, lower) || absl::StrContains(lower, there) ||
                       there.substr(0, kAlike) == lower.substr(0, kAlike);
    if (alike && similar.size() < kMaxSimilar) similar.push_back(other);
  }
  return similar;
}

// Follows one metric through the registry to the source.
class Walker {
 public:
  Walker(const MetricLooker::Deps& deps, const MetricSpec& spec, const MeasuredPods& measured)
      : deps_(deps),
        spec_(spec),
        measured_(measured),
        registry_(*deps.discovered->registry),
        mapper_(*registry_.mapper()) {}

  absl::StatusOr<Walk> Go() {
    if (spec_.type == MetricType::kExternal) {
      GoExternal();
    } else {
      resource_ = ResourceOf(spec_, deps_.mapper);
      if (resource_ == nullptr) return absl::NotFoundError("the described kind is not known");
      GoCustom();
    }
    return std::move(walk_);
  }

 private:
  void GoExternal() {
    const adapter::MetricSeries found = registry_.FindExternal(spec_.metric.name);
    if (found.rule == nullptr) {
      const auto& all = *registry_.external_list();
      walk_.similar = Similar(spec_.metric.name, {all.begin(), all.end()});
      return;
    }
    Found(*found.rule, found.series);
    walk_.namespace_label = LabelOf(*found.rule, {"", "namespaces"});
    auto promql = found.rule->ExternalQuery(found.series, measured_.ns, MetricSelector(), mapper_);
    Send(std::move(promql));
  }

  void GoCustom() {
    walk_.wanted = resource_->name.ToString();
    const bool itself = IsNamespaceItself(spec_);
    const adapter::MetricSeries found =
        registry_.FindCustom(*resource_, !itself, spec_.metric.name);
    if (found.rule == nullptr) {
      NameOfOthers();
      return;
    }
    Found(*found.rule, found.series);
    walk_.object_label = LabelOf(*found.rule, resource_->name);
    if (!itself) walk_.namespace_label = LabelOf(*found.rule, {"", "namespaces"});
    rules::ObjectQueryArgs args;
    args.series = std::string(found.series);
    args.resource = resource_->name;
    if (!itself) args.ns = measured_.ns;
    args.names = ObjectNames(kMaxPodsAsked);
    args.selector = MetricSelector();
    Send(found.rule->ObjectQuery(args, mapper_));
    if (walk_.asked.ok() && walk_.samples == 0) Join();
  }

  void Found(const rules::CompiledRule& rule, absl::string_view series) {
    walk_.rule = rule.where;
    walk_.series = std::string(series);
    walk_.labels = LabelsOf(walk_.series);
  }

  // This resource has no such metric: finds other resources that have it, or similar names.
  void NameOfOthers() {
    std::set<std::string> names;
    for (const adapter::CustomMetricInfo& info : *registry_.custom_list()) {
      names.insert(info.metric);
      if (info.metric != spec_.metric.name) continue;
      const kube::ResourceInfo* known = deps_.mapper.FindExact(info.resource);
      const bool lost = !info.namespaced && known != nullptr && known->namespaced;
      walk_.made_for.push_back(
          absl::StrCat(info.resource.ToString(), lost ? " (without a namespace)" : ""));
    }
    for (const adapter::DiscoveredRule& rule : deps_.discovered->custom) {
      if (rule.series == nullptr) continue;
      for (const auto& series : rule.series->series()) {
        if (!rule.rule->naming.Accepts(series.name) ||
            rule.rule->naming.ApiName(series.name) != spec_.metric.name) {
          continue;
        }
        Found(*rule.rule, series.name);
        if (walk_.made_for.empty()) walk_.made_for.push_back("no resource");
        walk_.better_label = LabelWithNames("");
        return;
      }
    }
    walk_.similar = Similar(spec_.metric.name, names);
  }

  std::vector<std::string> LabelsOf(const std::string& series) const {
    std::set<std::string> labels;
    for (const auto* list : {&deps_.discovered->custom, &deps_.discovered->external}) {
      for (const adapter::DiscoveredRule& rule : *list) {
        if (rule.series == nullptr) continue;
        for (const auto& one : rule.series->series()) {
          if (one.name != series) continue;
          const auto& set = rule.series->label_sets()[one.label_set];
          labels.insert(set.begin(), set.end());
        }
      }
    }
    return {labels.begin(), labels.end()};
  }

  std::string LabelOf(const rules::CompiledRule& rule, const kube::GroupResource& resource) const {
    return rule.mapping.LabelOfResource(resource, mapper_).value_or("");
  }

  std::vector<kube::Requirement> MetricSelector() const {
    if (!spec_.metric.selector.has_value()) return {};
    return spec_.metric.selector->ToSelector().value_or(kube::Selector()).requirements();
  }

  // The objects that should have a value.
  std::vector<std::string> ObjectNames(size_t most) const {
    if (spec_.type == MetricType::kObject) {
      return {IsNamespaceItself(spec_) ? measured_.ns : spec_.described_object.name};
    }
    std::vector<std::string> names;
    for (const scaler::Pod& pod : measured_.pods) {
      if (names.size() < most) names.push_back(pod.name);
    }
    return names;
  }

  void Send(absl::StatusOr<std::string> promql) {
    walk_.asked = promql.status();
    if (!promql.ok()) return;
    walk_.promql = *std::move(promql);
    const auto result = deps_.source->Query(walk_.promql, deps_.now, deps_.timeout);
    walk_.asked = result.status();
    if (result.ok()) walk_.samples = (*result)->samples.size();
  }

  // The values of a label in the series, or only in those of the target's namespace.
  std::vector<std::string> ValuesOf(const std::string& label, bool within_namespace) const {
    if (label.empty()) return {};
    rules::MatcherList matchers;
    matchers.AddEqual("__name__", walk_.series);
    if (within_namespace && !walk_.namespace_label.empty()) {
      matchers.AddEqual(walk_.namespace_label, measured_.ns);
    }
    const auto result = deps_.source->Query(
        absl::StrCat("count by (", label, ") ({", matchers.Join(), "})"), deps_.now, deps_.timeout);
    std::vector<std::string> values;
    if (!result.ok()) return values;
    for (const adapter::Sample& sample : (*result)->samples) {
      const absl::string_view value = adapter::LabelValue(sample.labels, label);
      if (values.size() < kMaxValues && !value.empty()) values.emplace_back(value);
    }
    return values;
  }

  size_t HowManyExist(const std::vector<std::string>& values) const {
    const std::vector<std::string> names = ObjectNames(SIZE_MAX);
    const std::set<std::string> there(names.begin(), names.end());
    return static_cast<size_t>(std::count_if(values.begin(), values.end(),
                                             [&](const auto& v) { return there.contains(v); }));
  }

  // A label other than `but` whose values are names of the objects; labels that Prometheus has
  // renamed (exported_…) are tried first.
  std::string LabelWithNames(const std::string& but) const {
    std::vector<std::string> labels = walk_.labels;
    std::stable_partition(labels.begin(), labels.end(), [](const std::string& label) {
      return absl::StartsWith(label, "exported_") || absl::StrContains(label, "pod");
    });
    labels.resize(std::min(labels.size(), kMaxLabels));
    for (const std::string& label : labels) {
      if (label != but && HowManyExist(ValuesOf(label, false)) > 0) return label;
    }
    return "";
  }

  void Join() {
    walk_.joined = true;
    walk_.namespaces = ValuesOf(walk_.namespace_label, false);
    walk_.objects = ValuesOf(walk_.object_label, true);
    walk_.objects_that_exist = HowManyExist(walk_.objects);
    if (walk_.objects_that_exist == 0) walk_.better_label = LabelWithNames(walk_.object_label);
  }

  const MetricLooker::Deps& deps_;
  const MetricSpec& spec_;
  const MeasuredPods& measured_;
  const adapter::SeriesRegistry& registry_;
  const kube::RestMapper& mapper_;
  const kube::ResourceInfo* resource_ = nullptr;
  Walk walk_;
};

// Whether metrics.k8s.io has the metric. Metrics of all other types come from rules.
bool IsOfUsage(const MetricSpec& spec) {
  return spec.type == MetricType::kResource || spec.type == MetricType::kContainerResource;
}

absl::StatusOr<std::vector<MetricItem>> Ask(kube::ApiClient& api, const MetricSpec& spec,
                                            const std::string& path) {
  ASSIGN_OR_RETURN(const std::string json, api.Get(path));
  return IsOfUsage(spec) ? ReadPodUsage(json, spec.resource, spec.container)
                         : ReadMetricValues(json);
}

}  // namespace

std::string CustomMetricsVersion(kube::ApiClient& api) {
  const absl::StatusOr<std::string> group = api.Get(absl::StrCat("/apis/", kCustomGroup));
  const std::string preferred = group.ok() ? ReadPreferredVersion(*group).value_or("") : "";
  return preferred == "v1beta1" ? preferred : "v1beta2";
}

absl::StatusOr<std::string> MetricPath(const MetricSpec& spec, absl::string_view ns,
                                       absl::string_view pod_selector,
                                       absl::string_view custom_version,
                                       const kube::RestMapper& mapper) {
  const std::string in = absl::StrCat("/namespaces/", go::UrlEscape(ns), "/");
  const std::string selector(pod_selector);
  const std::string metric = go::UrlEscape(spec.metric.name);
  const std::string custom = absl::StrCat("/apis/", kCustomGroup, "/", custom_version, in);
  switch (spec.type) {
    case MetricType::kResource:
    case MetricType::kContainerResource:
      return absl::StrCat("/apis/", kResourceGroup, "/v1beta1", in, "pods",
                          QueryOf({{"labelSelector", selector}}));
    case MetricType::kPods:
      return absl::StrCat(custom, "pods/*/", metric,
                          QueryOf({{"labelSelector", selector},
                                   {"metricLabelSelector", spec.metric.selector_text}}));
    case MetricType::kExternal:
      return absl::StrCat("/apis/", kExternalGroup, "/v1beta1", in, metric,
                          QueryOf({{"labelSelector", spec.metric.selector_text}}));
    case MetricType::kObject: break;
    default:
      return absl::InvalidArgumentError(absl::StrCat("unknown metric type ", spec.type_text));
  }
  const std::string query = QueryOf({{"metricLabelSelector", spec.metric.selector_text}});
  if (IsNamespaceItself(spec)) return absl::StrCat(custom, "metrics/", metric, query);
  const kube::ResourceInfo* resource = ResourceOf(spec, mapper);
  if (resource == nullptr) {
    return absl::NotFoundError(absl::StrCat("the cluster knows no ", spec.described_object.kind,
                                            " of ", spec.described_object.api_version));
  }
  return absl::StrCat(custom, resource->name.ToString(), "/",
                      go::UrlEscape(spec.described_object.name), "/", metric, query);
}

MetricLooker::MetricLooker(const Deps& deps)
    : deps_(deps), custom_version_(CustomMetricsVersion(deps.api)) {
  custom_names_ = NamesOf(absl::StrCat("/apis/", kCustomGroup, "/", custom_version_));
  external_names_ = NamesOf(absl::StrCat("/apis/", kExternalGroup, "/v1beta1"));
}

MetricLooker::Names MetricLooker::NamesOf(const std::string& path) {
  const absl::StatusOr<std::string> json = deps_.api.Get(path);
  if (!json.ok()) return std::nullopt;
  auto names = ReadResourceNames(*json);
  return names.ok() ? Names(*std::move(names)) : std::nullopt;
}

std::optional<bool> MetricLooker::Listed(const MetricSpec& spec) const {
  std::string name = spec.metric.name;
  const bool external = spec.type == MetricType::kExternal;
  if (!external) {
    const kube::ResourceInfo* resource = ResourceOf(spec, deps_.mapper);
    if (resource == nullptr) return std::nullopt;
    name = absl::StrCat(resource->name.ToString(), "/", name);
  }
  const Names& names = external ? external_names_ : custom_names_;
  if (!names.has_value()) return std::nullopt;
  return std::find(names->begin(), names->end(), name) != names->end();
}

MetricFacts MetricLooker::Look(const MetricSpec& spec, const MeasuredPods& measured) {
  MetricFacts facts;
  facts.spec = spec;
  if (!spec.metric.selector_error.empty()) return facts;
  const absl::StatusOr<std::string> path =
      MetricPath(spec, measured.ns, measured.selector, custom_version_, deps_.mapper);
  if (!path.ok()) {
    facts.answer = path.status();
    return facts;
  }
  facts.answer = Ask(deps_.api, spec, *path);
  if ((facts.answer.ok() && !facts.answer->empty()) || IsOfUsage(spec)) return facts;
  facts.listed = Listed(spec);
  if (deps_.discovered != nullptr && deps_.source != nullptr &&
      deps_.discovered->registry != nullptr) {
    facts.walk = Walker(deps_, spec, measured).Go();
  }
  return facts;
}

}  // namespace flyball::doctor
