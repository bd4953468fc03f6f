// Sends the server, over samples in memory, one request; returns its answer and the PromQL it sent.
//
// The tested code is the server's own, from the request handler through the providers and the query
// batcher to the series registry; only the metric source, the objects and the clock are fixed, and
// every client is allowed. No network; a few threads for resource metrics, which end with the call.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "rule_tests/fixed_directory.h"
#include "rule_tests/test_file.h"
#include "rules/compiled_rules.h"

namespace flyball::rule_tests {

struct Exchange {
  int code = 0;
  std::string body;                    // JSON
  std::vector<std::string> promql;     // sent for this request, sorted
  std::vector<std::string> errors;     // of those queries; not shown to the client
  std::vector<std::string> discovery;  // errors of the series queries before it
};

// GET of `request`, a path with query. Time 0 of the series is the epoch; the request comes at
// `eval_time`, and samples after it do not exist yet.
//   kInvalidArgument  a series is given twice with different values
absl::StatusOr<Exchange> AskRules(std::shared_ptr<const rules::CompiledRules> rules,
                                  const RuleTestFile& file, FixedDirectory& directory,
                                  absl::Duration eval_time, absl::string_view request);

// What a request gave against what its test expects (compare.cc), a line or block for each
// difference that a reader can act on; empty: the test passes. Pure.
std::vector<std::string> Differences(const RuleTest& test, const Exchange& got);

}  // namespace flyball::rule_tests
