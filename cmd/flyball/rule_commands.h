// The subcommands that look at rules; commands.h has the others.
#pragma once

#include "cmd/flyball/commands.h"

namespace flyball::cmd {

int RunDiff(const Args& args);   // diff.cc: what differs between two rule files
int RunRules(const Args& args);  // rules.cc: what rules do with a series

}  // namespace flyball::cmd
