// The subcommands that look at rules and at what they would have brought; commands.h has the
// others.
#pragma once

#include "cmd/flyball/commands.h"

namespace flyball::cmd {

int RunBacktest(const Args& args);  // backtest.cc: replica math over a time that is over
int RunDiff(const Args& args);      // diff.cc: what differs between two rule files
int RunRules(const Args& args);     // rules.cc: what rules do with a series

}  // namespace flyball::cmd
