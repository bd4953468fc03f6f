// The subcommands about rules and about past load; commands.h has the others.
#pragma once

#include "cmd/flyball/commands.h"

namespace flyball::cmd {

int RunBacktest(const Args& args);  // backtest.cc: replica math over past load
int RunDiff(const Args& args);      // diff.cc: what differs between two rule files
int RunRules(const Args& args);     // rules.cc: what rules do with a series

}  // namespace flyball::cmd
