// Writes the status of an autoscaler as a merge patch of its status subresource, and reads the API
// server's answers.
//
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "scaler/math/decision.h"
#include "scaler/spec/autoscaler.h"
#include "scaler/stores/managed.h"
#include "scaler/triggers/trigger.h"

namespace flyball::scaler {

// What the status of an Autoscaler (CRD) says beyond an HPA's.
struct OwnStatus {
  struct TriggerStatus {
    std::string type;
    std::string name;
    bool active = false;
    std::optional<int64_t> value_milli;  // absent: unknown
    std::string error;
  };
  // The decision that the status belongs to. A change of it alone is no reason to write the status.
  struct DecisionStatus {
    int32_t desired = 0;
    std::optional<int32_t> unbounded;  // absent: the metrics were not followed
    std::string reason;                // views/limiting_reason.h
    std::string metric;                // the one that decided; "": none did
  };
  std::optional<absl::Time> last_active;
  std::vector<TriggerStatus> triggers;
  std::optional<DecisionStatus> last_decision = std::nullopt;
  // For the columns of kubectl: the mode of that decision, and the text of targets_text.h. A change
  // of these alone is no reason to write the status.
  std::string mode = "";
  std::string targets = "";
};

// What the status says of a decision.
OwnStatus::DecisionStatus DecisionStatusOf(const Decision& decision);

// {"metadata":{"resourceVersion":…},"status":{…}}; a field that the status does not have is null.
// `own` nullptr: an HPA.
std::string StatusPatch(absl::string_view resource_version, const AutoscalerStatus& status,
                        const OwnStatus* own);

// The path of the object, or of its subresource.
std::string AutoscalerPath(const AutoscalerKey& key, absl::string_view subresource = "");

// metadata.resourceVersion of an object's JSON; "" if it has none.
std::string ResourceVersionOf(absl::string_view json);

// A digest of what a person cares about in a status: replicas, desired count, the conditions'
// status and reason, the time of the last change, the observed generation. The generation is a
// separate argument because for an Autoscaler (CRD) it is put into the status only when that is
// written. Never 0.
uint64_t CaredDigest(const AutoscalerStatus& status, std::optional<int64_t> observed_generation);

// A digest of the conditions that say that the target cannot be scaled, with their reasons:
// AbleToScale and ScalingActive if they are False. 0: neither is.
uint64_t FailureDigest(const AutoscalerStatus& status);

}  // namespace flyball::scaler
