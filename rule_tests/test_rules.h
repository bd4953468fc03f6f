// `flyball test rules`: runs the unit tests of rule files, without a cluster or a Prometheus.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace flyball::rule_tests {

// A line for each test and a block for each failure to `out`; findings about the files, one a line
// as `file:line:column: field: message`, to `err`. Returns the exit status: 0, or 1 if a test fails
// or a file cannot be used.
int TestRules(const std::vector<std::string>& files, std::ostream& out, std::ostream& err);

}  // namespace flyball::rule_tests
