#include "scaler/vectors/world.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "kube/objects/api_version.h"
#include "kube/objects/rest_mapping.h"
#include "kube/objects/selector.h"

namespace flyball::scaler {
namespace {

struct KnownKind {
  absl::string_view group;
  absl::string_view kind;
  absl::string_view resource;  // with its group, as errors name it
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
    if (known.group == group && kube::NamesKind(kind, known.kind)) return &known;
  }
  return nullptr;
}

std::string NoMatch(absl::string_view group, absl::string_view kind) {
  return absl::StrCat("no matches for kind \"", kind, "\" in group \"", group, "\"");
}

// The error that a fault word means for that object; "" if it means none.
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

// `kind` is "" for an external metric, which has no object.
template <typename Item>
MetricsAnswer<Item> Find(const std::vector<ScriptedAnswer<Item>>& scripted, absl::string_view kind,
                         absl::string_view object, const MetricIdentifier& metric) {
  for (const ScriptedAnswer<Item>& one : scripted) {
    if ((kind.empty() || (one.kind == kind && one.object == object)) && one.metric == metric.name &&
        one.selector == metric.selector_text) {
      return one.answer;
    }
  }
  return {.error = absl::StrCat("no ", kind.empty() ? "external" : "custom", " metric ",
                                metric.name, " in scenario"),
          .items = {}};
}

MetricsAnswer<ObjectMetric> FindObjects(const Tick& tick, absl::string_view ns,
                                        const MetricSpec& spec) {
  if (spec.type == MetricType::kPods) return Find(tick.custom, "Pod", "*", spec.metric);
  const ObjectReference& object = spec.described_object;
  const std::string group = kube::ApiVersion::GroupOf(object.api_version);
  const std::string kind = group.empty() ? object.kind : absl::StrCat(object.kind, ".", group);
  if (FindKind(group, object.kind) == nullptr) {
    return {.error = absl::StrCat("unable to map kind ", kind,
                                  " to resource: ", NoMatch(group, object.kind)),
            .items = {}};
  }
  // A metric of a Namespace is always one of the autoscaler's own namespace.
  return Find(tick.custom, kind, kind == "Namespace" ? ns : object.name, spec.metric);
}

}  // namespace

World::World(const Scenario& scenario, const Autoscaler& autoscaler) : autoscaler_(autoscaler) {
  for (const OtherAutoscaler& other : scenario.others) {
    const auto selector = kube::Selector::Parse(other.selector);
    if (!selector.ok()) continue;
    index_.Select({AutoscalerKind::kHpa, other.ns, other.name}, *selector, other.selector);
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
  ++list_;
  for (Pod& pod : pods_) {
    if (pod.ns.empty()) pod.ns = autoscaler_.ns;
    index_.Put(pod, /*node=*/"", list_);
  }
  index_.RemoveBefore(/*ns=*/"", list_);
}

ScaleAnswer World::ReadScale(const Tick& tick) {
  const ObjectReference& target = autoscaler_.scale_target;
  ScaleAnswer out;
  const absl::StatusOr<kube::ApiVersion> version = kube::ApiVersion::Parse(target.api_version);
  if (!version.ok()) {
    out.failure = ScaleAnswer::Failure::kApiVersion;
    out.error = std::string(version.status().message());
    return out;
  }
  const KnownKind* kind = FindKind(version->group, target.kind);
  if (kind == nullptr) {
    out.failure = ScaleAnswer::Failure::kMapping;
    out.error = NoMatch(version->group, target.kind);
    return out;
  }
  resource_ = kind->resource;
  out.error = FaultText(tick.faults.get_scale, resource_, target.name);
  if (!out.error.empty()) {
    out.failure = ScaleAnswer::Failure::kRead;
    return out;
  }
  out.spec_replicas = spec_replicas_;
  out.status_replicas = status_replicas_;
  out.selector = selector_;
  return out;
}

PodsAnswer World::ReadPods(const Tick& tick, const MathConfig& config) {
  PodsAnswer out;
  table_ = std::make_shared<const PodTable>();
  out.table = table_.get();
  if (selector_.empty()) return out;
  const auto selector = kube::Selector::Parse(selector_, config.labels);
  if (!selector.ok()) {
    out.selector_error = std::string(selector.status().message());
    return out;
  }
  const AutoscalerKey self = {AutoscalerKind::kHpa, autoscaler_.ns, autoscaler_.name};
  const SelectedPods* const group =
      index_.Select(self, *selector, selector_, /*rival=*/!tick.faults.deleted);
  out.list_error = tick.faults.list_pods;
  if (!out.list_error.empty()) return out;
  PodView view = index_.View(*group, self.kind, autoscaler_.metrics, config.requests);
  table_ = std::move(view.table);
  out.table = table_.get();
  out.rivals = std::move(view.rivals);
  return out;
}

std::vector<Reading> World::ReadMetrics(const Tick& tick) const {
  std::vector<Reading> out(autoscaler_.metrics.size());
  for (size_t i = 0; i < out.size(); ++i) {
    const MetricSpec& spec = autoscaler_.metrics[i];
    ReadMetric(
        spec, *table_,
        [&] {
          return tick.resource.value_or(
              MetricsAnswer<PodMetrics>{.error = "no resource metrics in scenario", .items = {}});
        },
        [&] { return FindObjects(tick, autoscaler_.ns, spec); },
        [&] { return Find(tick.external, "", "", spec.metric); }, out[i]);
  }
  return out;
}

std::string World::WriteScale(absl::string_view fault, int32_t replicas) {
  std::string error = FaultText(fault, resource_, autoscaler_.scale_target.name);
  if (error.empty()) spec_replicas_ = replicas;
  return error;
}

std::string World::StatusFault(absl::string_view fault) const {
  return FaultText(fault, "horizontalpodautoscalers.autoscaling", autoscaler_.name);
}

}  // namespace flyball::scaler
