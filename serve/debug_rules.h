// The JSON of /debug/rules: what each rule found, and whether the rule file as it is now is in
// force. Pure.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "adapter/relist_status.h"

namespace flyball::serve {

std::string DebugRulesJson(const std::vector<adapter::RuleStatus>& rules,
                           const absl::Status& last_reload);

}  // namespace flyball::serve
