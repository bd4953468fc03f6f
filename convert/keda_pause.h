// What KEDA's annotations of a ScaledObject hold back: its scaling, one direction of it, or the way
// to zero replicas, which its cooldowns hold back too.
//
// Pure. Source: KEDA 2.20, the meaning of both in its HPA and in its scale executor.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>

#include "convert/manifests.h"

namespace flyball::convert {

// Adds it to the spec of an Autoscaler (CRD), which has its minReplicas and its behavior already. A
// direction that is paused would leave or enter zero replicas nevertheless, so with minReplicas of
// 0 the spec says more than the direction, and a remark says what.
void AddKedaPause(const nlohmann::ordered_json& object, nlohmann::ordered_json& spec,
                  Manifests& out);

// Remarks for cooldowns of the object that an Autoscaler (CRD) does not keep: the one after it is
// made, and the one that its status shows to be running, for a spec that has its minReplicas and
// its cooldownPeriod already. `of` comes before the names of the object's fields.
void NameInitialCooldown(const nlohmann::ordered_json& object, const std::string& of,
                         Manifests& out);
void NameRunningCooldown(const nlohmann::ordered_json& object, const std::string& of,
                         const nlohmann::ordered_json& spec, Manifests& out);

// The annotations that AddKedaPause reads.
const std::set<std::string>& KedaPauseAnnotations();

}  // namespace flyball::convert
