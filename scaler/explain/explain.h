// Explains a decision: as text for people, and as its whole trace in JSON or YAML for programs.
//
// Pure. The text begins with the answer and its reason; one line for each step follows. In the
// trace replicas are integers, ratios are doubles, amounts are texts with quantities in canonical
// form, times are in RFC 3339, and durations are in seconds. A step that was not taken is absent.
#pragma once

#include <string>

#include "scaler/explain/given_case.h"

namespace flyball::scaler {

std::string ExplainText(const GivenCase& given);

// One JSON object, indented by two.
std::string ExplainJson(const GivenCase& given);

// The same object as one YAML document, beginning with `---`.
std::string ExplainYaml(const GivenCase& given);

}  // namespace flyball::scaler
