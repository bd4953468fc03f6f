// Feature gates of the HPA controller: what shows of them, and what an autoscaler says that one of
// them makes void.
//
// Pure.
#pragma once

#include "absl/types/span.h"
#include "doctor/autoscaler.h"
#include "doctor/finding.h"
#include "scaler/stores/managed.h"

namespace flyball::doctor {

// The choice with the gates that HorizontalPodAutoscalers among `listed` show to be on.
scaler::DialectChoice WithShownGates(const scaler::DialectChoice& choice,
                                     const scaler::ServerVersion& server,
                                     absl::Span<const scaler::ManagedPtr> listed);

// Of one of our own kind there is nothing to find: gates are not for it.
Findings CheckGates(const AutoscalerFacts& facts);

}  // namespace flyball::doctor
