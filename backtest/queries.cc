#include "backtest/queries.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/go/regexp.h"
#include "base/go/text.h"
#include "base/status_macros.h"
#include "kube/objects/api_version.h"

namespace flyball::backtest {
namespace {

using scaler::MetricSpec;
using scaler::MetricType;

// A pod's name in a query, which is then replaced by a pattern for the names of all pods.
constexpr char kAnyPod[] = "flyball-backtest-any-pod";

const kube::GroupResource kPods = {"", "pods"};

// A pattern for the names of the target's pods.
std::string PodPattern(const scaler::ObjectReference& target) {
  const std::string name = go::QuoteMeta(target.name);
  if (kube::NamesKind(target.kind, "Deployment")) return name + "-[a-z0-9]+-[a-z0-9]{5}";
  if (kube::NamesKind(target.kind, "StatefulSet")) return name + "-[0-9]+";
  return name + "-.+";
}

class QueryMaker {
 public:
  QueryMaker(const scaler::Autoscaler& autoscaler, const QuerySources& sources)
      : autoscaler_(autoscaler), sources_(sources) {}

  absl::StatusOr<std::string> Total(const MetricSpec& metric) const {
    const std::string& name = metric.resource.empty() ? metric.metric.name : metric.resource;
    if (const auto given = sources_.given.find(name); given != sources_.given.end()) {
      return given->second;
    }
    return OfRules(metric);
  }

 private:
  absl::StatusOr<std::string> OfRules(const MetricSpec& metric) const {
    switch (metric.type) {
      case MetricType::kResource: return OfResource(metric);
      case MetricType::kPods: return OfObjects(metric, kPods, kAnyPod);
      case MetricType::kObject: return OfObject(metric);
      case MetricType::kExternal: return OfExternal(metric);
      case MetricType::kContainerResource:
      case MetricType::kUnknown: break;
    }
    return Missing(metric, "no rule gives a total for it");
  }

  static absl::Status Missing(const MetricSpec& metric, absl::string_view why) {
    const std::string& name = metric.resource.empty() ? metric.metric.name : metric.resource;
    return absl::NotFoundError(absl::StrCat(MetricTitle(metric), ": ", why, "; --query '", name,
                                            "=PROMQL' says what its total was"));
  }

  // The query with kAnyPod replaced by the pattern for the target's pods.
  absl::StatusOr<std::string> OfTargetsPods(const std::string& query) const {
    const std::string pattern = PodPattern(autoscaler_.scale_target);
    return absl::StrReplaceAll(
        query, {{absl::StrCat("=\"", kAnyPod, "\""), absl::StrCat("=~", go::Quote(pattern))}});
  }

  absl::StatusOr<std::vector<kube::Requirement>> SelectorOf(const MetricSpec& metric) const {
    if (!metric.metric.selector.has_value()) return std::vector<kube::Requirement>();
    ASSIGN_OR_RETURN(const kube::Selector selector, metric.metric.selector->ToSelector());
    return selector.requirements();
  }

  absl::StatusOr<std::string> OfResource(const MetricSpec& metric) const {
    const auto& resource = sources_.rules.resource;
    if (!resource.has_value() || (metric.resource != "cpu" && metric.resource != "memory")) {
      return Missing(metric, "the rule file has no resourceRules for it");
    }
    const rules::CompiledResourceRule& rule =
        metric.resource == "cpu" ? *resource->cpu : *resource->memory;
    ASSIGN_OR_RETURN(const std::string query,
                     rule.ContainerQuery(autoscaler_.ns, {kAnyPod}, sources_.mapper));
    return OfTargetsPods(query);
  }

  absl::StatusOr<std::string> OfObject(const MetricSpec& metric) const {
    const scaler::ObjectReference& object = metric.described_object;
    const kube::ResourceInfo* const kind =
        sources_.mapper.FindKind(kube::ApiVersion::GroupOf(object.api_version), object.kind);
    if (kind == nullptr) return Missing(metric, absl::StrCat("no kind ", object.kind, " is known"));
    return OfObjects(metric, kind->name, object.name);
  }

  absl::StatusOr<std::string> OfObjects(const MetricSpec& metric, const kube::GroupResource& name,
                                        const std::string& object) const {
    const kube::ResourceInfo* const resource = sources_.mapper.FindExact(name);
    if (resource == nullptr) return Missing(metric, "its resource is not known");
    const bool is_namespace = name == kube::GroupResource{"", "namespaces"};
    const adapter::MetricSeries found =
        sources_.registry.FindCustom(*resource, !is_namespace, metric.metric.name);
    if (found.rule == nullptr) return Missing(metric, "no rule finds a series for it");
    ASSIGN_OR_RETURN(const std::vector<kube::Requirement> selector, SelectorOf(metric));
    std::optional<std::string> ns;
    if (!is_namespace) ns = autoscaler_.ns;
    ASSIGN_OR_RETURN(const std::string query,
                     found.rule->ObjectQuery({.series = std::string(found.series),
                                              .resource = name,
                                              .ns = ns,
                                              .names = {object},
                                              .selector = selector},
                                             sources_.mapper));
    return OfTargetsPods(query);
  }

  absl::StatusOr<std::string> OfExternal(const MetricSpec& metric) const {
    const adapter::MetricSeries found = sources_.registry.FindExternal(metric.metric.name);
    if (found.rule == nullptr) return Missing(metric, "no rule finds a series for it");
    ASSIGN_OR_RETURN(const std::vector<kube::Requirement> selector, SelectorOf(metric));
    return found.rule->ExternalQuery(found.series, autoscaler_.ns, selector, sources_.mapper);
  }

  const scaler::Autoscaler& autoscaler_;
  const QuerySources& sources_;
};

}  // namespace

std::string MetricTitle(const MetricSpec& metric) {
  switch (metric.type) {
    case MetricType::kResource: return absl::StrCat("resource ", metric.resource);
    case MetricType::kContainerResource:
      return absl::StrCat("resource ", metric.resource, " of container ", metric.container);
    case MetricType::kPods: return absl::StrCat("pods metric ", metric.metric.name);
    case MetricType::kObject:
      return absl::StrCat("metric ", metric.metric.name, " of ", metric.described_object.kind, " ",
                          metric.described_object.name);
    case MetricType::kExternal: return absl::StrCat("external metric ", metric.metric.name);
    case MetricType::kUnknown: break;
  }
  return absl::StrCat("metric of type ", metric.type_text);
}

std::vector<absl::StatusOr<std::string>> TotalQueries(const scaler::Autoscaler& autoscaler,
                                                      const QuerySources& sources) {
  const QueryMaker maker(autoscaler, sources);
  std::vector<absl::StatusOr<std::string>> out;
  for (const MetricSpec& metric : autoscaler.metrics) out.push_back(maker.Total(metric));
  return out;
}

}  // namespace flyball::backtest
