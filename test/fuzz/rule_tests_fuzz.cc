// links: rule_tests
//
// Test files of `flyball test rules`: whatever the bytes, there are findings or a file whose tests
// can be run, and the values of its series are within the limit.
#include <cstdint>
#include <cstdlib>

#include "rule_tests/test_file.h"
#include "rules/config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 16384) return 0;
  flyball::rules::Findings findings("fuzz.yaml");
  const flyball::rule_tests::RuleTestFile file = flyball::rule_tests::ReadRuleTestFile(
      absl::string_view(reinterpret_cast<const char*>(data), size), findings);
  for (const auto& series : file.input_series) {
    if (series.values.size() > 100'000) std::abort();
  }
  if (findings.has_errors()) return 0;
  if (file.rule_files.empty() || file.tests.empty()) std::abort();
  if (file.interval <= absl::ZeroDuration()) std::abort();
  for (const auto& test : file.tests) {
    if (test.request.empty() || test.name.empty()) std::abort();
  }
  return 0;
}
