// Derives a server's duties from its flags. Pure.
#pragma once

#include <string>

#include "absl/types/span.h"
#include "doctor/autoscaler.h"
#include "doctor/rights.h"
#include "rules/compiled_rules.h"
#include "serve/flags.h"

namespace flyball::cmd {

// Without Duties::objects. `pod_ns`: the namespace of its pod; `rules`: nullptr if unknown;
// `chosen`: the autoscalers that it is to scale.
doctor::Duties DutiesOf(const serve::ServeFlags& server, const std::string& pod_ns,
                        const rules::CompiledRules* rules,
                        absl::Span<const scaler::Managed* const> chosen);

}  // namespace flyball::cmd
