// Reports the results of rule files' tests, as text or for other programs. Pure.
#pragma once

#include <string>
#include <vector>

namespace flyball::rule_tests {

struct TestResult {
  std::string name;
  int line = 0;                          // in its file
  std::vector<std::string> differences;  // none: it passed
};

struct FileResult {
  std::string path;
  bool read = true;    // false: there is no such file, or it cannot be read
  bool usable = true;  // false: its tests could not run
  std::vector<TestResult> tests;
};

// A line for each test, with its differences below it, and a line for the file.
std::string TextReport(const FileResult& file);
// "3 files: 12 passed, 1 failed".
std::string TotalLine(const std::vector<FileResult>& files);
// JUnit XML as Ant writes it, which continuous integration reads.
std::string JunitReport(const std::vector<FileResult>& files);
std::string JsonReport(const std::vector<FileResult>& files);

}  // namespace flyball::rule_tests
