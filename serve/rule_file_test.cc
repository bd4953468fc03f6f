#include "serve/rule_file.h"

#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "base/test_log.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::serve {
namespace {

using testing::HasSubstr;

constexpr char kOneRule[] =
    "externalRules:\n"
    "- {seriesQuery: q, resources: {namespaced: false}, metricsQuery: "
    "'sum(<<.Series>>{<<.LabelMatchers>>})'}\n";
constexpr char kNoRule[] = "rules: []\n";
constexpr char kBad[] = "rules:\n- seriesQuery: [x\n";

class RuleFileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::path(testing::TempDir()) /
        absl::StrCat(testing::UnitTest::GetInstance()->current_test_info()->name(), "-", getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    path_ = folder_ / "rules.yaml";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& text) { std::ofstream(path_, std::ios::trunc) << text; }
  absl::StatusOr<std::unique_ptr<RuleFile>> Open() {
    return RuleFile::Open(path_, clock_, metrics_);
  }
  std::string MetricsText() { return prometheus::TextSerializer().Serialize(metrics_.Collect()); }

  std::filesystem::path folder_;
  std::string path_;
  SimulatedClock clock_{absl::FromUnixSeconds(1700000000)};
  prometheus::Registry metrics_;
};

TEST_F(RuleFileTest, AGoodFileIsInForce) {
  Write(kOneRule);
  auto file = Open();
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ((*file)->Rules()->external.size(), 1u);
  EXPECT_TRUE((*file)->LastReload().ok());
  EXPECT_THAT(MetricsText(), HasSubstr("flyball_rules_reload_success 1"));
}

TEST_F(RuleFileTest, ABadFileAtStartIsAnErrorThatNamesTheLine) {
  Write(kBad);
  const auto file = Open();
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(std::string(file.status().message()), HasSubstr("rules.yaml:"));
}

TEST_F(RuleFileTest, AFileThatIsWrongThroughoutIsNotToldOfLineByLine) {
  std::string text;
  for (int i = 0; i < 1000; ++i) absl::StrAppend(&text, "key", i, ": 1\n");
  Write(text);
  const std::string message(Open().status().message());
  EXPECT_THAT(message, HasSubstr("rules.yaml:20:1: key19: unknown key"));
  EXPECT_THAT(message, testing::EndsWith("\n... and 980 more"));
}

TEST_F(RuleFileTest, AnEmptyFileHasNoRules) {
  Write("");
  auto file = Open();
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE((*file)->Rules()->custom.empty());
}

TEST_F(RuleFileTest, AFolderIsNotARuleFile) {
  std::filesystem::create_directories(path_);
  EXPECT_EQ(Open().status(),
            absl::InvalidArgumentError(path_ + ": cannot be read: Is a directory"));
}

TEST_F(RuleFileTest, AMissingFileAtStartIsAnError) {
  EXPECT_TRUE(absl::IsNotFound(Open().status()));
}

TEST_F(RuleFileTest, ABadFileLaterLeavesTheLastGoodRules) {
  Write(kOneRule);
  auto file = Open();
  ASSERT_TRUE(file.ok());
  Write(kBad);
  (*file)->Reload();
  EXPECT_EQ((*file)->Rules()->external.size(), 1u);
  EXPECT_FALSE((*file)->LastReload().ok());
  EXPECT_THAT(MetricsText(), HasSubstr("flyball_rules_reload_success 0"));

  std::filesystem::remove(path_);
  (*file)->Reload();
  EXPECT_EQ((*file)->Rules()->external.size(), 1u) << "a file that is gone is not an empty one";

  Write(kOneRule);
  (*file)->Reload();
  EXPECT_TRUE((*file)->LastReload().ok())
      << "the same text as before the trouble counts as good again";
  EXPECT_THAT(MetricsText(), HasSubstr("flyball_rules_reload_success 1"));
}

// As while a generator runs whose output is sent into the file.
TEST_F(RuleFileTest, AFileThatBecomesEmptyIsRefused) {
  Write(kOneRule);
  auto file = Open();
  ASSERT_TRUE(file.ok());
  for (const char* text : {"", " \n"}) {
    Write(text);
    (*file)->Reload();
    EXPECT_EQ((*file)->Rules()->external.size(), 1u);
    EXPECT_THAT(std::string((*file)->LastReload().message()), HasSubstr("it has become empty"));
  }
  Write("# none\n");
  (*file)->Reload();
  EXPECT_TRUE((*file)->LastReload().ok()) << (*file)->LastReload();
  EXPECT_TRUE((*file)->Rules()->external.empty());
  Write("");
  (*file)->Reload();
  EXPECT_TRUE((*file)->LastReload().ok()) << "there were no rules before either";
}

TEST_F(RuleFileTest, WhatAFileIsWarnedOfIsLoggedOnceForEachText) {
  const TestLog log;
  Write(kNoRule);
  auto file = Open();
  ASSERT_TRUE(file.ok()) << file.status();
  (*file)->Reload();
  EXPECT_EQ(log.Count("no rules"), 1u);
  Write(kOneRule);
  (*file)->Reload();
  EXPECT_THAT(log.text(), HasSubstr("0 rules, 1 external rule now in force, 1 new or changed: "
                                    "+external q; 0 gone or changed"));
}

TEST_F(RuleFileTest, NewRulesAreHandedOnOnce) {
  Write(kOneRule);
  auto file = Open();
  ASSERT_TRUE(file.ok());
  int calls = 0;
  size_t external = 99;
  // The interval is longer than the test: only Reload reads.
  (*file)->Watch(absl::Hours(1), [&](RulesPtr rules) {
    ++calls;
    external = rules->external.size();
  });
  (*file)->Reload();
  EXPECT_EQ(calls, 0) << "the text did not change";
  Write(kNoRule);
  (*file)->Reload();
  (*file)->Reload();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(external, 0u);
}

}  // namespace
}  // namespace flyball::serve
