#include "scaler/vectors/world.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "kube/objects/api_version.h"
#include "kube/objects/selector.h"

namespace flyball::scaler {
namespace {

struct KnownKind {
  absl::string_view group;
  absl::string_view kind;
  absl::string_view resource;  // qualified, as errors name it
};

constexpr KnownKind kKnownKinds[] = {
    {"apps", "Deployment", "deployments.apps"},
    {"apps", "ReplicaSet", "replicasets.apps"},
    {"apps", "StatefulSet", "statefulsets.apps"},
    {"", "ReplicationController", "replicationcontrollers"},
    {"", "Pod", "pods"},
    {"", "Service", "services"},
    {"", "Namespace", "namespaces"},
    {"networking.k8s.io", "Ingress", "ingresses.networking.k8s.io"},
    {"example.com", "Widget", "widgets.example.com"},
};

const KnownKind* FindKind(absl::string_view group, absl::string_view kind) {
  for (const KnownKind& known : kKnownKinds) {
    if (known.group == group && known.kind == kind) return &known;
  }
  return nullptr;
}

std::string NoMatch(absl::string_view group, absl::string_view kind) {
  return absl::StrCat("no matches for kind \"", kind, "\" in group \"", group, "\"");
}

// What a fault word means for that object; "" for none.
std::string FaultText(absl::string_view word, absl::string_view resource, absl::string_view name) {
  if (word.empty() || word == "ok") return "";
  if (word == "notfound") return absl::StrCat(resource, " \"", name, "\" not found");
  if (word == "conflict") {
    return absl::StrCat("Operation cannot be fulfilled on ", resource, " \"", name,
                        "\": the object has been modified; please apply your changes to the latest "
                        "version and try again");
  }
  absl::ConsumePrefix(&word, "error:");
  return std::string(word);
}

// The target's resource; its group is known to be well-formed when a scale was read.
absl::string_view ResourceOf(const ObjectReference& target) {
  const KnownKind* kind = FindKind(kube::ApiVersion::GroupOf(target.api_version), target.kind);
  return kind == nullptr ? "" : kind->resource;
}

MetricsAnswer<ObjectMetric> FindCustom(const Tick& tick, absl::string_view kind,
                                       absl::string_view object, const MetricIdentifier& metric) {
  for (const CustomAnswer& custom : tick.custom) {
    if (custom.kind == kind && custom.object == object && custom.metric == metric.name &&
        custom.selector == metric.selector_text) {
      return custom.answer;
    }
  }
  return {.error = absl::StrCat("no custom metric ", metric.name, " in scenario"), .items = {}};
}

MetricsAnswer<ExternalMetric> FindExternal(const Tick& tick, const MetricIdentifier& metric) {
  for (const ExternalAnswer& external : tick.external) {
    if (external.metric == metric.name && external.selector == metric.selector_text) {
      return external.answer;
    }
  }
  return {.error = absl::StrCat("no external metric ", metric.name, " in scenario"), .items = {}};
}

MetricsAnswer<ObjectMetric> FindObject(const Tick& tick, absl::string_view ns,
                                       const MetricSpec& spec) {
  const ObjectReference& object = spec.described_object;
  const std::string group = kube::ApiVersion::GroupOf(object.api_version);
  const std::string kind = group.empty() ? object.kind : absl::StrCat(object.kind, ".", group);
  if (FindKind(group, object.kind) == nullptr) {
    return {.error = absl::StrCat("unable to map kind ", kind,
                                  " to resource: ", NoMatch(group, object.kind)),
            .items = {}};
  }
  // A Namespace is always the autoscaler's own.
  return FindCustom(tick, kind, kind == "Namespace" ? ns : absl::string_view(object.name),
                    spec.metric);
}

}  // namespace

World::World(const Scenario& scenario, const Autoscaler& autoscaler)
    : ns_(autoscaler.ns), name_(autoscaler.name), target_(autoscaler.scale_target) {
  registry_.Register(ns_, name_);
  for (const OtherAutoscaler& other : scenario.others) {
    registry_.Register(other.ns, other.name);
    const auto selector = kube::Selector::Parse(other.selector);
    if (selector.ok()) registry_.Replace(other.ns, other.name, *selector);
  }
}

void World::Apply(const Tick& tick) {
  if (tick.scale.spec_replicas.has_value()) spec_replicas_ = *tick.scale.spec_replicas;
  if (tick.scale.status_replicas.has_value()) status_replicas_ = *tick.scale.status_replicas;
  if (tick.scale.selector.has_value()) selector_ = *tick.scale.selector;
  if (tick.pods.has_value()) pods_ = *tick.pods;
  for (const std::string& name : tick.pods_remove) {
    std::erase_if(pods_, [&](const Pod& pod) { return pod.name == name; });
  }
  for (const Pod& pod : tick.pods_upsert) {
    const auto known =
        std::find_if(pods_.begin(), pods_.end(), [&](const Pod& p) { return p.name == pod.name; });
    if (known == pods_.end()) {
      pods_.push_back(pod);
    } else {
      *known = pod;
    }
  }
  for (Pod& pod : pods_) {
    if (pod.ns.empty()) pod.ns = ns_;
  }
}

ScaleAnswer World::ReadScale(const Tick& tick) const {
  ScaleAnswer out;
  const absl::StatusOr<kube::ApiVersion> version = kube::ApiVersion::Parse(target_.api_version);
  if (!version.ok()) {
    out.failure = ScaleAnswer::Failure::kApiVersion;
    out.error = std::string(version.status().message());
    return out;
  }
  if (FindKind(version->group, target_.kind) == nullptr) {
    out.failure = ScaleAnswer::Failure::kMapping;
    out.error = NoMatch(version->group, target_.kind);
    return out;
  }
  out.error = FaultText(tick.faults.get_scale, ResourceOf(target_), target_.name);
  if (!out.error.empty()) {
    out.failure = ScaleAnswer::Failure::kRead;
    return out;
  }
  out.spec_replicas = spec_replicas_;
  out.status_replicas = status_replicas_;
  out.selector = selector_;
  return out;
}

PodsAnswer World::ReadPods(const Tick& tick, const Autoscaler& autoscaler,
                           bool pod_level_resources) {
  PodsAnswer out;
  table_ = PodTable();
  out.table = &table_;
  if (selector_.empty()) return out;
  const auto selector = kube::Selector::Parse(selector_);
  if (!selector.ok()) {
    out.selector_error = std::string(selector.status().message());
    return out;
  }
  registry_.Replace(ns_, name_, *selector);
  out.list_error = tick.faults.list_pods;
  if (!out.list_error.empty()) return out;
  std::vector<const Pod*> selected;
  for (const Pod& pod : pods_) {
    if (pod.ns == ns_ && selector->Matches(pod.labels)) selected.push_back(&pod);
  }
  out.rivals = registry_.Selecting(ns_, selected);
  table_ = PodTable(selected, autoscaler.metrics, pod_level_resources);
  return out;
}

std::vector<Reading> World::ReadMetrics(const Tick& tick, const Autoscaler& autoscaler) const {
  std::vector<Reading> out(autoscaler.metrics.size());
  for (size_t i = 0; i < out.size(); ++i) {
    const MetricSpec& spec = autoscaler.metrics[i];
    switch (spec.type) {
      case MetricType::kResource:
      case MetricType::kContainerResource:
        ReadResource(tick.resource.value_or(
                         MetricsAnswer<PodMetrics>{"no resource metrics in scenario", {}}),
                     spec.resource, spec.container, table_, out[i]);
        break;
      case MetricType::kPods:
        ReadPodsMetric(FindCustom(tick, "Pod", "*", spec.metric), table_, out[i]);
        break;
      case MetricType::kObject:
        ReadObjectMetric(FindObject(tick, ns_, spec), out[i]);
        break;
      case MetricType::kExternal:
        ReadExternalMetric(FindExternal(tick, spec.metric), out[i]);
        break;
      case MetricType::kUnknown:
        break;
    }
  }
  return out;
}

std::string World::WriteScale(absl::string_view fault, int32_t replicas) {
  std::string error = FaultText(fault, ResourceOf(target_), target_.name);
  if (error.empty()) spec_replicas_ = replicas;
  return error;
}

std::string World::StatusFault(absl::string_view fault) const {
  return FaultText(fault, "horizontalpodautoscalers.autoscaling", name_);
}

}  // namespace flyball::scaler
