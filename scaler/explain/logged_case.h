// Turns a decision that the running scaler's log kept into a GivenCase, the form that is explained.
//
// Pure.
#pragma once

#include <vector>

#include "scaler/explain/given_case.h"
#include "scaler/views/logged_decision.h"

namespace flyball::scaler {

// Owns what its GivenCase points to.
class LoggedCase {
 public:
  explicit LoggedCase(LoggedDecision logged);
  LoggedCase(const LoggedCase&) = delete;
  LoggedCase& operator=(const LoggedCase&) = delete;

  const GivenCase& given() const { return given_; }

 private:
  Autoscaler autoscaler_;  // with the metrics of triggers
  std::vector<Pod> pods_;
  GivenCase given_;
};

// "shadow", "advise", "act".
const char* ModeName(Mode mode);

}  // namespace flyball::scaler
