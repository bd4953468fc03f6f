// A decision as a person reads it at 3 a.m.: the answer and its reason first, then one line a step.
//
// Pure.
#pragma once

#include <string>

#include "scaler/explain/given_case.h"

namespace flyball::scaler {

std::string ExplainText(const GivenCase& given);

}  // namespace flyball::scaler
