#include "rule_tests/test_rules.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "base/read_file.h"
#include "re2/re2.h"
#include "rule_tests/fixed_directory.h"
#include "rule_tests/rule_bench.h"
#include "rule_tests/test_file.h"
#include "rule_tests/test_report.h"
#include "rules/compiled_rules.h"

namespace flyball::rule_tests {
namespace {

class FileRun {
 public:
  FileRun(std::string file, const std::string& run, std::ostream& err)
      : file_name_(std::move(file)),
        path_(file_name_ == "-" ? "stdin" : file_name_),
        run_(run, RE2::Quiet),
        err_(err),
        findings_(path_) {}

  FileResult Run() {
    FileResult result = {.path = path_, .read = true, .usable = Prepare(), .tests = {}};
    result.read = read_;
    if (!result.usable) return result;
    for (const RuleTest& test : file_.tests) {
      if (RE2::PartialMatch(test.name, run_)) result.tests.push_back(RunTest(test));
    }
    // If some tests are skipped, nothing can be concluded from unused rules.
    if (run_.pattern().empty()) WarnOfUnasked();
    return result;
  }

 private:
  // Reads everything, all errors at once. False: the tests cannot run.
  bool Prepare() {
    const auto text = ReadFileOrStdin(file_name_);
    if (!text.ok()) {
      err_ << text.status().message() << ", expected a test file\n";
      read_ = false;
      return false;
    }
    file_ = ReadRuleTestFile(*text, findings_);
    bool good =
        ReadNamed("object_files", file_.object_files,
                  [this](const auto& text, const auto& path) { return AddObjects(text, path); });
    auto rules = std::make_shared<rules::CompiledRules>();
    good &= ReadNamed("rule_files", file_.rule_files, [&](const auto& text, const auto& path) {
      return AddRules(text, path, *rules);
    });
    good &= !findings_.has_errors();
    for (const rules::Finding& finding : std::move(findings_).Take()) {
      err_ << finding.ToString() << "\n";
    }
    std::vector<const kube::ManifestObject*> objects;
    for (const kube::ManifestObject& object : file_.objects) objects.push_back(&object);
    directory_ = std::make_unique<FixedDirectory>(objects);
    rules_ = std::move(rules);
    return good;
  }

  // Reads the files that a list of the test file names; one that cannot be read is a finding.
  bool ReadNamed(const char* field, const std::vector<rules::TextField>& names,
                 const std::function<bool(const std::string& text, const std::string& path)>& use) {
    bool good = true;
    for (size_t i = 0; i < names.size(); ++i) {
      const std::string path =
          (std::filesystem::path(path_).parent_path() / names[i].text).string();
      const auto text = ReadFile(path);
      if (text.ok()) {
        good &= use(*text, path);
      } else {
        findings_.Error(names[i].place, absl::StrCat(field, "[", i, "]"),
                        std::string(text.status().message()));
      }
    }
    return good;
  }

  bool AddObjects(const std::string& text, const std::string& path) {
    auto objects = kube::ReadManifest(text, path);
    if (!objects.ok()) {
      // `file:line:column: what` of that file.
      err_ << objects.status().message() << "\n";
      return false;
    }
    for (kube::ManifestObject& object : *objects) file_.objects.push_back(std::move(object));
    return true;
  }

  // To those of the other files, as if they stood in one.
  bool AddRules(const std::string& text, const std::string& path, rules::CompiledRules& all) {
    const rules::CompileResult result = rules::CompileRules(text, path);
    for (const rules::Finding& finding : result.findings) err_ << finding.ToString() << "\n";
    if (result.rules == nullptr) return false;
    const rules::CompiledRules& one = *result.rules;
    all.custom.insert(all.custom.end(), one.custom.begin(), one.custom.end());
    all.external.insert(all.external.end(), one.external.begin(), one.external.end());
    if (one.resource) all.resource = one.resource;
    return true;
  }

  void WarnOfUnasked() {
    const auto warn = [this](const std::string& where, absl::string_view field) {
      err_ << where << ": " << field << ": warning: no test asks for a metric of this rule\n";
    };
    for (const auto& [list, name] :
         {std::pair(&rules_->custom, "rules"), std::pair(&rules_->external, "externalRules")}) {
      for (const auto& rule : *list) {
        if (!rule->asked) warn(rule->where, absl::StrCat(name, "[", rule->index, "]"));
      }
    }
    if (rules_->resource && !rules_->resource->cpu->asked && !rules_->resource->memory->asked) {
      warn(path_, "resourceRules");
    }
  }

  TestResult RunTest(const RuleTest& test) {
    TestResult result = {.name = test.name, .line = test.place.line, .differences = {}};
    std::vector<std::string>& differences = result.differences;
    const auto got = AskRules(rules_, file_, *directory_,
                              test.eval_time.value_or(file_.evaluation_time), test.request);
    if (got.ok()) {
      differences = Differences(test, *got);
      for (const std::string& error : got->discovery) {
        differences.push_back(absl::StrCat("discovery: ", error));
      }
    } else {
      differences.push_back(absl::StrCat("input_series: ", got.status().message()));
    }
    return result;
  }

  const std::string file_name_, path_;
  const RE2 run_;
  bool read_ = true;
  std::ostream& err_;
  rules::Findings findings_;
  RuleTestFile file_;
  std::unique_ptr<FixedDirectory> directory_;
  std::shared_ptr<const rules::CompiledRules> rules_;
};

}  // namespace

int TestRules(const TestOptions& options, std::ostream& out, std::ostream& err) {
  std::vector<FileResult> results;
  bool read = true, good = true, usable = true;
  size_t tests = 0;
  for (const std::string& file : options.files) {
    const FileResult& result = results.emplace_back(FileRun(file, options.run, err).Run());
    read &= result.read;
    usable &= result.usable;
    tests += result.tests.size();
    good &= result.usable &&
            absl::c_all_of(result.tests, [](const auto& test) { return test.differences.empty(); });
    if (options.format == TestFormat::kText && !result.tests.empty()) out << TextReport(result);
  }
  if (options.format == TestFormat::kJunit) out << JunitReport(results);
  if (options.format == TestFormat::kJson) out << JsonReport(results);
  if (options.format == TestFormat::kText && results.size() > 1) out << TotalLine(results);
  out.flush();
  if (usable && tests == 0) {
    err << "flyball test rules: --run: no test matches " << options.run << "\n";
    return 2;
  }
  if (!read) return 2;
  return good && out.good() ? 0 : 1;
}

}  // namespace flyball::rule_tests
