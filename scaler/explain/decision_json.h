// The whole trace of a decision as JSON or YAML, for machines.
//
// Pure. Replicas are integers, ratios doubles; amounts are quantities in canonical form, as text;
// times RFC 3339, durations seconds. A step that was not taken is absent.
#pragma once

#include <string>

#include "scaler/explain/given_case.h"

namespace flyball::scaler {

// One JSON object, indented by two.
std::string ExplainJson(const GivenCase& given);

// The same as one YAML document, beginning with `---`.
std::string ExplainYaml(const GivenCase& given);

}  // namespace flyball::scaler
