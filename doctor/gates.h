// Feature gates of the HPA controller: which ones objects show to be enabled, and which fields of
// an autoscaler have no effect because a gate is off.
//
// Pure.
#pragma once

#include "absl/types/span.h"
#include "doctor/autoscaler.h"
#include "doctor/finding.h"
#include "scaler/stores/managed.h"

namespace flyball::doctor {

// The choice, with the gates that HorizontalPodAutoscalers among `listed` show to be enabled.
scaler::DialectChoice WithShownGates(const scaler::DialectChoice& choice,
                                     const scaler::ServerVersion& server,
                                     absl::Span<const scaler::ManagedPtr> listed);

// Autoscalers (CRD) have no findings, since no gate applies to them.
Findings CheckGates(const AutoscalerFacts& facts);

}  // namespace flyball::doctor
