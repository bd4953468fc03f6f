// Converts KEDA's annotations that pause a ScaledObject: its scaling, one direction of it, or
// scaling to zero replicas, which its cooldowns delay too.
//
// Pure. Source: KEDA 2.20, the meaning of both in its HPA and in its scale executor.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>

#include "convert/manifests.h"

namespace flyball::convert {

// Adds the pause to the spec of an Autoscaler (CRD), which already has its minReplicas and
// behavior. A paused direction would still leave or enter zero replicas, so with minReplicas 0 the
// spec gets more than the direction, and a remark says what.
void AddKedaPause(const nlohmann::ordered_json& object, nlohmann::ordered_json& spec,
                  Manifests& out);

// Adds remarks for cooldowns of the object that an Autoscaler (CRD) does not keep: the one after
// its creation, and the one that its status shows to be running. The spec already has its
// minReplicas and cooldownPeriod. `of` precedes the names of the object's fields.
void NameInitialCooldown(const nlohmann::ordered_json& object, const std::string& of,
                         Manifests& out);
void NameRunningCooldown(const nlohmann::ordered_json& object, const std::string& of,
                         const nlohmann::ordered_json& spec, Manifests& out);

// The annotations that AddKedaPause reads.
const std::set<std::string>& KedaPauseAnnotations();

}  // namespace flyball::convert
