// Makes a GivenCase, the form that is explained, from a decision in the log of the running scaler.
//
// Pure.
#pragma once

#include "scaler/explain/given_case.h"
#include "scaler/views/logged_decision.h"

namespace flyball::scaler {

GivenCase CaseFromLog(LoggedDecision logged);

}  // namespace flyball::scaler
