// A decision told: as text for a person, and its whole trace as JSON or YAML for machines.
//
// Pure. The text begins with the answer and its reason; then comes one line for each step. In the
// trace replicas are integers, ratios doubles; amounts are quantities in canonical form, as text;
// times RFC 3339, durations seconds. A step that was not taken is absent.
#pragma once

#include <string>

#include "scaler/explain/given_case.h"

namespace flyball::scaler {

std::string ExplainText(const GivenCase& given);

// One JSON object, indented by two.
std::string ExplainJson(const GivenCase& given);

// The same as one YAML document, beginning with `---`.
std::string ExplainYaml(const GivenCase& given);

}  // namespace flyball::scaler
