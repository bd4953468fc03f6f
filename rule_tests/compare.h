// Compares a request's result with what its test expects, and describes the differences.
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
