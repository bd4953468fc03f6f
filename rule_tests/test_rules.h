// `flyball test rules`: runs the unit tests of rule files, without a cluster or a Prometheus.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace flyball::rule_tests {

enum class TestFormat { kText, kJunit, kJson };

struct TestOptions {
  std::vector<std::string> files;  // "-": standard input
  std::string run = {};            // an RE2 that the name of a test must contain; "": all
  TestFormat format = TestFormat::kText;
};

// As text a line for each test, a block for each failure and a total to `out`; else a report.
// Findings about the files, one a line as `file:line:column: field: message`, to `err`. Returns the
// exit status: 0, 1 if a test fails or a file is wrong, 2 if a test file cannot be read or no test
// matches `run`.
int TestRules(const TestOptions& options, std::ostream& out, std::ostream& err);

}  // namespace flyball::rule_tests
