// What a request gave against what its test expects, as lines that a reader can act on.
//
// Pure.
#pragma once

#include <string>
#include <vector>

#include "rule_tests/rule_bench.h"
#include "rule_tests/test_file.h"

namespace flyball::rule_tests {

// One line or block for each difference; empty: the test passes.
std::vector<std::string> Differences(const RuleTest& test, const Exchange& got);

}  // namespace flyball::rule_tests
