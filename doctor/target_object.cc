#include "doctor/target_object.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "base/counted.h"
#include "base/status_macros.h"
#include "doctor/json_object.h"
#include "kube/objects/json_members.h"

namespace flyball::doctor {
namespace {

using Json = nlohmann::json;
using kube::IsTrue;
using kube::ItemsOf;
using kube::MemberOf;
using kube::TextOf;

constexpr size_t kShown = 5;  // names in one finding

absl::Time TimeOf(const Json& object, const std::string& name) {
  return kube::TimeOf(object, name, absl::InfinitePast());
}

void CheckManagers(const TargetFacts& facts, Findings& findings) {
  for (const ReplicasManager& manager : facts.object->managers) {
    // Until the first scaling the manager that made the object with a count owns the field, which
    // is no problem.
    const bool since = facts.last_scaled.has_value() && manager.time > *facts.last_scaled;
    if (!manager.apply && !since) continue;
    findings.push_back(
        Doubt("replicas-writer",
              absl::StrCat(manager.name, manager.apply ? " applies" : " has written",
                           " spec.replicas of ", facts.kind, " ", facts.name,
                           manager.apply ? " and undoes what is scaled when it applies again"
                                         : " since the autoscaler did"),
              "leave spec.replicas out of what it writes (Argo CD: ignoreDifferences with "
              "RespectIgnoreDifferences; Helm, kubectl apply: no replicas in the manifest)"));
  }
}

void CheckForeignPods(const TargetFacts& facts, Findings& findings) {
  if (facts.controllers.empty()) return;
  std::vector<std::string> foreign;
  for (const PodOrigin& pod : facts.pods) {
    if (std::find(facts.controllers.begin(), facts.controllers.end(), pod.controller_uid) ==
        facts.controllers.end()) {
      foreign.push_back(pod.name);
    }
  }
  if (foreign.empty()) return;
  findings.push_back(
      Bad("foreign-pods",
          absl::StrCat("the selector ", facts.selector, " catches ", foreign.size(),
                       foreign.size() == 1 ? " pod" : " pods", " that ", facts.kind, " ",
                       facts.name, " does not own: ", Shortened(foreign, kShown),
                       "; their load and number count as its own"),
          absl::StrCat("give the pods of ", facts.kind, " ", facts.name,
                       " a label of their own in spec.selector and spec.template")));
}

void CheckUnschedulable(const TargetFacts& facts, Findings& findings) {
  std::vector<std::string> waiting;
  std::string why;
  for (const PodOrigin& pod : facts.pods) {
    if (pod.unschedulable.empty()) continue;
    waiting.push_back(pod.name);
    if (why.empty()) why = pod.unschedulable;
  }
  if (waiting.empty()) return;
  findings.push_back(Bad("unschedulable",
                         absl::StrCat("no node takes ", Shortened(waiting, kShown), ": ", why),
                         "add nodes, or lower requests or spec.maxReplicas"));
}

}  // namespace

absl::StatusOr<TargetObject> ReadTargetObject(absl::string_view json) {
  ASSIGN_OR_RETURN(const Json object, ParseObject<Json>(json, "object"));
  const Json& metadata = MemberOf(object, "metadata");
  TargetObject out;
  out.uid = TextOf(metadata, "uid");
  for (const Json& entry : ItemsOf(metadata, "managedFields")) {
    const Json& spec = MemberOf(MemberOf(entry, "fieldsV1"), "f:spec");
    if (MemberOf(spec, "f:replicas").is_null()) continue;
    const std::string manager = TextOf(entry, "manager");
    // The autoscaler's own writes. `kubectl scale` and other clients write the subresource too.
    const bool scales = manager == "kube-controller-manager" || manager == "flyball";
    if (scales && TextOf(entry, "subresource") == "scale") continue;
    out.managers.push_back({.name = manager,
                            .apply = TextOf(entry, "operation") == "Apply",
                            .time = TimeOf(entry, "time")});
  }
  const Json& failure = ConditionOf(object, "ReplicaFailure");
  if (TextOf(failure, "status") == "True") out.replica_failure = TextOf(failure, "message");
  return out;
}

absl::StatusOr<std::string> ReadFailedCreate(absl::string_view json) {
  ASSIGN_OR_RETURN(const Json list, ParseObject<Json>(json, "list of events"));
  std::string message;
  absl::Time newest = absl::InfinitePast();
  for (const Json& event : ItemsOf(list, "items")) {
    if (TextOf(event, "reason") != "FailedCreate") continue;
    // A repeated event has its last time in an older field or in `series`.
    const absl::Time time = std::max({TimeOf(event, "lastTimestamp"), TimeOf(event, "eventTime"),
                                      TimeOf(MemberOf(event, "series"), "lastObservedTime")});
    if (!message.empty() && time < newest) continue;
    newest = time;
    message = TextOf(event, "message");
  }
  return message;
}

absl::StatusOr<PodOrigin> ReadPodOrigin(absl::string_view json) {
  ASSIGN_OR_RETURN(const Json object, ParseObject<Json>(json, "object"));
  const Json& metadata = MemberOf(object, "metadata");
  PodOrigin out;
  out.name = TextOf(metadata, "name");
  for (const Json& owner : ItemsOf(metadata, "ownerReferences")) {
    if (IsTrue(owner, "controller")) out.controller_uid = TextOf(owner, "uid");
  }
  const Json& scheduled = ConditionOf(object, "PodScheduled");
  if (TextOf(scheduled, "status") == "False" && TextOf(scheduled, "reason") == "Unschedulable") {
    out.unschedulable = TextOf(scheduled, "message");
    if (out.unschedulable.empty()) out.unschedulable = "the scheduler does not say why";
  }
  return out;
}

Findings CheckTargetObject(const TargetFacts& facts) {
  Findings findings;
  if (facts.object.has_value()) {
    CheckManagers(facts, findings);
    if (!facts.object->replica_failure.empty()) {
      findings.push_back(
          Bad("replica-failure",
              absl::StrCat(facts.kind, " ", facts.name, " can't make its ", facts.desired,
                           " replicas: ", facts.object->replica_failure),
              absl::StrCat("raise the quota, or lower spec.maxReplicas: kubectl -n ", facts.ns,
                           " describe resourcequota")));
    }
  }
  CheckForeignPods(facts, findings);
  CheckUnschedulable(facts, findings);
  return findings;
}

}  // namespace flyball::doctor
