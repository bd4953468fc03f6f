#include "rule_tests/test_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "base/counted.h"

namespace flyball::rule_tests {
namespace {

size_t FailedOf(const FileResult& file) {
  return static_cast<size_t>(std::count_if(file.tests.begin(), file.tests.end(),
                                           [](const auto& t) { return !t.differences.empty(); }));
}

std::string Escaped(const std::string& text) {
  std::string out;
  for (const char c : absl::StrReplaceAll(
           text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}})) {
    // XML has no form for other control characters.
    const bool allowed = static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t';
    out.push_back(allowed ? c : '?');
  }
  return out;
}

}  // namespace

std::string TextReport(const FileResult& file) {
  std::string out;
  for (const TestResult& test : file.tests) {
    const bool passed = test.differences.empty();
    absl::StrAppend(&out, passed ? "  PASS  " : "  FAIL  ", test.name);
    if (!passed) absl::StrAppend(&out, "  (", file.path, ":", test.line, ")");
    absl::StrAppend(&out, "\n");
    for (const std::string& difference : test.differences) {
      absl::StrAppend(&out, "        ", absl::StrReplaceAll(difference, {{"\n", "\n        "}}),
                      "\n");
    }
  }
  const size_t failed = FailedOf(file);
  if (failed == 0) return absl::StrCat(out, file.path, ": ok: ", file.tests.size(), " passed\n");
  return absl::StrCat(out, file.path, ": FAILED: ", failed, " of ", file.tests.size(), "\n");
}

std::string TotalLine(const std::vector<FileResult>& files) {
  size_t tests = 0, failed = 0, unusable = 0;
  for (const FileResult& file : files) {
    tests += file.tests.size();
    failed += FailedOf(file);
    unusable += file.usable ? 0 : 1;
  }
  return absl::StrCat(
      Counted(files.size(), "file"), ": ", tests - failed, " passed, ", failed, " failed",
      unusable == 0 ? "" : absl::StrCat(", ", Counted(unusable, "file"), " cannot be used"), "\n");
}

std::string JunitReport(const std::vector<FileResult>& files) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (const FileResult& file : files) {
    const std::string path = Escaped(file.path);
    absl::StrAppend(&out, "  <testsuite name=\"", path, "\" tests=\"", file.tests.size(),
                    "\" failures=\"", FailedOf(file), "\" errors=\"", file.usable ? 0 : 1, "\">\n");
    for (const TestResult& test : file.tests) {
      absl::StrAppend(&out, "    <testcase classname=\"", path, "\" name=\"", Escaped(test.name),
                      "\" file=\"", path, "\" line=\"", test.line, "\"");
      if (test.differences.empty()) {
        absl::StrAppend(&out, "/>\n");
        continue;
      }
      absl::StrAppend(&out, ">\n      <failure message=\"", Escaped(test.differences[0]), "\">",
                      Escaped(absl::StrJoin(test.differences, "\n")),
                      "</failure>\n    </testcase>\n");
    }
    absl::StrAppend(&out, "  </testsuite>\n");
  }
  return out + "</testsuites>\n";
}

std::string JsonReport(const std::vector<FileResult>& files) {
  using Json = nlohmann::ordered_json;
  Json out = {{"files", Json::array()}, {"passed", 0}, {"failed", 0}};
  size_t passed = 0, failed = 0;
  for (const FileResult& file : files) {
    Json tests = Json::array();
    for (const TestResult& test : file.tests) {
      ++(test.differences.empty() ? passed : failed);
      tests.push_back({{"name", test.name},
                       {"line", test.line},
                       {"passed", test.differences.empty()},
                       {"differences", test.differences}});
    }
    out["files"].push_back({{"file", file.path}, {"usable", file.usable}, {"tests", tests}});
  }
  out["passed"] = passed;
  out["failed"] = failed;
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace flyball::rule_tests
