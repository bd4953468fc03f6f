// Turns a decision that the running scaler's log kept into a GivenCase, the form that is explained.
//
// Pure.
#pragma once

#include "scaler/explain/given_case.h"
#include "scaler/views/logged_decision.h"

namespace flyball::scaler {

GivenCase CaseFromLog(LoggedDecision logged);

}  // namespace flyball::scaler
