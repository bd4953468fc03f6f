#include "doctor/autoscaler_look.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "doctor/listing.h"
#include "kube/objects/api_version.h"
#include "scaler/inputs/pod_json.h"
#include "scaler/spec/hpa/admission.h"
#include "scaler/spec/own/parser.h"
#include "scaler/triggers/types/trigger_types.h"

namespace flyball::doctor {
namespace {

ListedAutoscaler ReadHpa(absl::string_view json) {
  ListedAutoscaler listed;
  // The API server has admitted it.
  scaler::AdmissionResult read = scaler::Admit(json, {.gates = {}, .skip_admission = true});
  listed.error = read.decode_error;
  if (read.autoscaler.has_value()) listed.spec = *std::move(read.autoscaler);
  return listed;
}

ListedAutoscaler ReadOwn(absl::string_view json) {
  ListedAutoscaler listed;
  listed.own = true;
  scaler::OwnParseResult read = scaler::ParseOwnAutoscaler(json, scaler::TriggerTypeNames());
  listed.error = read.ErrorText();
  if (read.autoscaler.has_value()) listed.spec = *std::move(read.autoscaler);
  listed.beyond = std::move(read.own);
  return listed;
}

bool Writes(const ListedAutoscaler& one, scaler::Mode default_mode) {
  return !one.own ||
         (one.beyond.mode.value_or(default_mode) == scaler::Mode::kAct && !one.beyond.paused);
}

void LookAtTarget(const AutoscalerLookDeps& deps, AutoscalerFacts& facts) {
  const scaler::ObjectReference& ref = facts.spec.scale_target;
  const kube::ResourceInfo* kind =
      deps.mapper.FindKind(kube::ApiVersion::GroupOf(ref.api_version), ref.kind);
  if (kind == nullptr) {
    facts.target_kind = absl::NotFoundError("no such kind");
    return;
  }
  facts.scale = kube::GetScale(deps.api, *kind, facts.spec.ns, ref.name);
  if (facts.scale.ok()) return;
  facts.target = deps.api
                     .Get(kube::ObjectPath(kind->name.group, kind->version, facts.spec.ns,
                                           kind->name.resource, ref.name))
                     .status();
}

void LookAtPods(const AutoscalerLookDeps& deps, AutoscalerFacts& facts) {
  facts.measured.ns = facts.spec.ns;
  if (!facts.scale.ok() || facts.scale->selector.empty()) return;
  facts.measured.selector = facts.scale->selector;
  const auto listed = ListObjects(deps.server, ResourceNamed("", "v1", "pods", "Pod"),
                                  facts.spec.ns, facts.scale->selector, deps.timeout);
  facts.pods_read = listed.status();
  if (!listed.ok()) return;
  scaler::PodJsonReader reader;
  for (const std::string& json : *listed) {
    scaler::Pod pod;
    if (reader.Read(json, pod).ok()) facts.measured.pods.push_back(std::move(pod));
  }
}

}  // namespace

absl::StatusOr<std::vector<ListedAutoscaler>> ListAutoscalers(http::HttpTransport& server,
                                                              absl::string_view ns,
                                                              absl::Duration timeout) {
  const auto list = [&](const kube::ResourceInfo& resource) {
    return ListObjects(server, resource, ns, "", timeout);
  };
  ASSIGN_OR_RETURN(const std::vector<std::string> hpas,
                   list(ResourceNamed("autoscaling", "v2", "horizontalpodautoscalers",
                                      "HorizontalPodAutoscaler")));
  std::vector<ListedAutoscaler> all;
  for (const std::string& json : hpas) all.push_back(ReadHpa(json));
  const auto own = list(
      ResourceNamed(scaler::kOwnGroup, scaler::kOwnVersion, scaler::kOwnPlural, scaler::kOwnKind));
  if (own.ok()) {
    for (const std::string& json : *own) all.push_back(ReadOwn(json));
  }
  std::stable_sort(
      all.begin(), all.end(),
      [](const ListedAutoscaler& a, const ListedAutoscaler& b) { return a.spec.ns < b.spec.ns; });
  return all;
}

bool AreRivals(const ListedAutoscaler& a, const ListedAutoscaler& b, scaler::Mode default_mode) {
  const bool same = a.own == b.own && a.spec.name == b.spec.name;
  const auto target = [](const ListedAutoscaler& one) {
    const scaler::ObjectReference& ref = one.spec.scale_target;
    return std::tuple(one.spec.ns, kube::ApiVersion::GroupOf(ref.api_version), ref.kind, ref.name);
  };
  return !same && target(a) == target(b) && Writes(a, default_mode) && Writes(b, default_mode);
}

AutoscalerFacts LookAtAutoscaler(const ListedAutoscaler& one,
                                 const std::vector<ListedAutoscaler>& all,
                                 const AutoscalerLookDeps& deps) {
  AutoscalerFacts facts;
  static_cast<ListedAutoscaler&>(facts) = one;
  for (const ListedAutoscaler& other : all) {
    if (!AreRivals(one, other, deps.default_mode)) continue;
    facts.rivals.push_back(absl::StrCat(other.own ? "autoscaler " : "hpa ", other.spec.name));
  }
  LookAtTarget(deps, facts);
  LookAtPods(deps, facts);
  for (const scaler::MetricSpec& metric : facts.spec.metrics) {
    facts.metrics.push_back(deps.metrics.Look(metric, facts.measured));
    facts.metrics.back().in_process = one.own;
  }
  return facts;
}

}  // namespace flyball::doctor
