// A decision as text for a person: first the answer and its reason, then one line for each step.
//
// Pure.
#pragma once

#include <string>

#include "scaler/explain/given_case.h"

namespace flyball::scaler {

std::string ExplainText(const GivenCase& given);

}  // namespace flyball::scaler
