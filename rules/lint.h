// Warnings: what a rule file may say and hardly means. Errors are the compiler's.
//
// Pure. Each warning says what will happen and what to write instead. Parts of the file that do not
// compile are passed over.
#pragma once

#include "rules/config.h"

namespace flyball::rules {

void LintConfig(const Config& config, Findings& findings);

}  // namespace flyball::rules
