#include "doctor/autoscaler.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/go/url.h"
#include "base/status_macros.h"
#include "doctor/listing.h"
#include "kube/objects/api_version.h"
#include "kube/objects/builtin_resources.h"
#include "scaler/inputs/pod_json.h"
#include "scaler/stores/autoscaler_store.h"

namespace flyball::doctor {
namespace {

bool Writes(const scaler::Managed& one, scaler::Mode default_mode) {
  return one.key.kind == scaler::AutoscalerKind::kHpa ||
         (one.own.mode.value_or(default_mode) == scaler::Mode::kAct && !one.own.paused);
}

void LookAtTarget(const AutoscalerLookDeps& deps, AutoscalerFacts& facts) {
  const scaler::ObjectReference& ref = facts.autoscaler.scale_target;
  const kube::ResourceInfo* kind =
      deps.mapper.FindKind(kube::ApiVersion::GroupOf(ref.api_version), ref.kind);
  if (kind == nullptr) {
    facts.target_kind = absl::NotFoundError("no such kind");
    return;
  }
  facts.scale = kube::GetScale(deps.api, *kind, facts.key.ns, ref.name);
  const absl::StatusOr<std::string> object = deps.api.Get(kube::ObjectPath(
      kind->name.group, kind->version, facts.key.ns, kind->name.resource, ref.name));
  facts.target = object.status();
  if (!facts.scale.ok() || !object.ok()) return;
  TargetFacts& own = facts.own_object;
  own.ns = facts.key.ns;
  own.kind = kind->kind;
  own.name = ref.name;
  own.selector = facts.scale->selector;
  own.desired = facts.scale->spec_replicas;
  own.last_scaled = facts.autoscaler.status.last_scale_time;
  if (auto read = ReadTargetObject(*object); read.ok()) own.object = *std::move(read);
}

// Reads why a target can't make its pods. A Deployment has a condition for that; other kinds have
// only events, which the cluster keeps for an hour, so that they count only while pods are missing.
void LookAtEvents(const AutoscalerLookDeps& deps, TargetFacts& own) {
  if (!own.object.has_value() || own.object->uid.empty() || own.kind == "Deployment" ||
      !own.object->replica_failure.empty() || own.pods.size() >= static_cast<size_t>(own.desired)) {
    return;
  }
  const std::string selector =
      absl::StrCat("involvedObject.uid=", own.object->uid, ",reason=FailedCreate");
  const absl::StatusOr<std::string> events =
      deps.api.Get(absl::StrCat(kube::ObjectPath("", "v1", own.ns, "events", ""),
                                "?fieldSelector=", go::QueryEscape(selector)));
  if (!events.ok()) return;
  if (auto failure = ReadFailedCreate(*events); failure.ok()) {
    own.object->replica_failure = *std::move(failure);
  }
}

// The uids of the controllers of the target's pods; empty if they are not known for its kind.
std::vector<std::string> ControllersOf(const AutoscalerLookDeps& deps, const TargetFacts& own) {
  if (!own.object.has_value() || own.object->uid.empty()) return {};
  if (own.kind == "StatefulSet" || own.kind == "ReplicaSet" ||
      own.kind == "ReplicationController") {
    return {own.object->uid};
  }
  if (own.kind != "Deployment") return {};
  const auto sets =
      ListObjects(deps.server, kube::ResourceNamed("apps", "v1", "replicasets", "ReplicaSet"),
                  own.ns, own.selector, deps.timeout);
  if (!sets.ok()) return {};
  std::vector<std::string> uids;
  for (const std::string& json : *sets) {
    const absl::StatusOr<PodOrigin> origin = ReadPodOrigin(json);  // a ReplicaSet's owner too
    const absl::StatusOr<TargetObject> set = ReadTargetObject(json);
    if (!origin.ok() || !set.ok() || origin->controller_uid != own.object->uid) continue;
    uids.push_back(set->uid);
  }
  return uids;
}

void LookAtPods(const AutoscalerLookDeps& deps, AutoscalerFacts& facts) {
  facts.measured.ns = facts.key.ns;
  if (!facts.scale.ok() || facts.scale->selector.empty()) return;
  facts.measured.selector = facts.scale->selector;
  const auto listed = ListObjects(deps.server, kube::ResourceNamed("", "v1", "pods", "Pod"),
                                  facts.key.ns, facts.scale->selector, deps.timeout);
  facts.pods_read = listed.status();
  if (!listed.ok()) return;
  scaler::PodJsonReader reader;
  for (const std::string& json : *listed) {
    scaler::Pod pod;
    if (reader.Read(json, pod).ok()) facts.measured.pods.push_back(std::move(pod));
    if (auto origin = ReadPodOrigin(json); origin.ok()) {
      facts.own_object.pods.push_back(*std::move(origin));
    }
  }
  facts.own_object.controllers = ControllersOf(deps, facts.own_object);
  LookAtEvents(deps, facts.own_object);
}

}  // namespace

absl::StatusOr<std::vector<scaler::ManagedPtr>> ListAutoscalers(http::HttpTransport& server,
                                                                absl::string_view ns,
                                                                absl::Duration timeout) {
  std::vector<scaler::ManagedPtr> all;
  const auto list = [&](scaler::AutoscalerKind kind,
                        const kube::ResourceInfo& resource) -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<std::string> objects,
                     ListObjects(server, resource, ns, "", timeout));
    for (const std::string& json : objects) {
      if (auto managed = scaler::ReadManaged(kind, json)) all.push_back(std::move(managed));
    }
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(list(scaler::AutoscalerKind::kHpa,
                       kube::ResourceNamed("autoscaling", "v2", "horizontalpodautoscalers",
                                           "HorizontalPodAutoscaler")));
  (void)list(  // its definition need not be installed
      scaler::AutoscalerKind::kOwn, kube::ResourceNamed(scaler::kOwnGroup, scaler::kOwnVersion,
                                                        scaler::kOwnPlural, scaler::kOwnKind));
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a->key.ns < b->key.ns; });
  return all;
}

bool AreRivals(const scaler::Managed& a, const scaler::Managed& b, scaler::Mode default_mode) {
  const auto target = [](const scaler::Managed& one) {
    const scaler::ObjectReference& ref = one.autoscaler.scale_target;
    // A kind may be in lower case.
    return std::tuple(one.key.ns, kube::ApiVersion::GroupOf(ref.api_version),
                      absl::AsciiStrToLower(ref.kind), ref.name);
  };
  return a.key != b.key && target(a) == target(b) && Writes(a, default_mode) &&
         Writes(b, default_mode);
}

AutoscalerFacts LookAtAutoscaler(const scaler::Managed& one,
                                 const std::vector<scaler::ManagedPtr>& all,
                                 const AutoscalerLookDeps& deps) {
  AutoscalerFacts facts;
  static_cast<scaler::Managed&>(facts) = one;
  facts.dialect = deps.dialect;
  for (const scaler::ManagedPtr& other : all) {
    if (!AreRivals(one, *other, deps.default_mode)) continue;
    facts.rivals.push_back(absl::StrCat(KindWord(other->key), other->key.name));
  }
  LookAtTarget(deps, facts);
  LookAtPods(deps, facts);
  for (const scaler::MetricSpec& metric : facts.autoscaler.metrics) {
    facts.metrics.push_back(deps.metrics.Look(metric, facts.measured));
    facts.metrics.back().in_process = one.key.kind == scaler::AutoscalerKind::kOwn;
  }
  return facts;
}

}  // namespace flyball::doctor
