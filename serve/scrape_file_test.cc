#include "serve/scrape_file.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::serve {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string Job(const std::string& name) {
  return absl::StrCat("scrape_configs:\n- job_name: ", name, "\n");
}

class ScrapeFileTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = absl::StrCat(testing::TempDir(), "/scrape-", getpid(), ".yml");
    Write(Job("one"));
  }
  void TearDown() override { std::filesystem::remove(path_); }

  void Write(const std::string& text) { std::ofstream(path_) << text; }
  // Without a thread that looks at the file: no time passes.
  std::unique_ptr<ScrapeFile> Watched(std::vector<scrape::Job> besides = {}) {
    auto file = ScrapeFile::Open(path_, std::move(besides));
    EXPECT_TRUE(file.ok()) << file.status();
    const absl::Status watched =
        (*file)->Watch(clock_, absl::Seconds(1), [this](const scrape::Config& config) {
          if (!refusal_.ok()) return refusal_;
          std::string names;
          for (const scrape::Job& job : config.jobs) absl::StrAppend(&names, job.name, " ");
          applied_.push_back(names);
          return absl::OkStatus();
        });
    EXPECT_TRUE(watched.ok()) << watched;
    return *std::move(file);
  }

  std::string path_;
  SimulatedClock clock_{absl::FromUnixSeconds(1700000000)};
  absl::Status refusal_;
  std::vector<std::string> applied_;
};

TEST_F(ScrapeFileTest, IsAppliedOnceAndAgainWhenItHasChanged) {
  const auto file = Watched();
  file->Reload();
  EXPECT_THAT(applied_, ElementsAre("one "));
  Write(Job("two"));
  file->Reload();
  EXPECT_THAT(applied_, ElementsAre("one ", "two "));
  file->StopWatching();
  Write(Job("three"));
  file->Reload();
  EXPECT_EQ(applied_.size(), 2u);
}

TEST_F(ScrapeFileTest, WithAFaultTheLastGoodOneStays) {
  const auto file = Watched();
  Write(Job("two") + "  scrape_intervall: 1s\n");
  file->Reload();
  EXPECT_THAT(applied_, ElementsAre("one "));
  EXPECT_THAT(file->LastReload().message(), HasSubstr(".yml:3:3"));
  std::filesystem::remove(path_);
  file->Reload();
  EXPECT_TRUE(absl::IsNotFound(file->LastReload())) << file->LastReload();
  // As it was: nothing has to be begun anew.
  Write(Job("one"));
  file->Reload();
  EXPECT_TRUE(file->LastReload().ok());
  EXPECT_THAT(applied_, ElementsAre("one "));
}

TEST_F(ScrapeFileTest, ThatBecomesEmptyIsRefused) {
  const auto file = Watched();
  Write("\n");
  file->Reload();
  EXPECT_THAT(file->LastReload().message(), HasSubstr("it has become empty"));
  Write("{}");
  file->Reload();
  EXPECT_TRUE(file->LastReload().ok()) << file->LastReload();
  EXPECT_THAT(applied_, ElementsAre("one ", ""));
}

TEST_F(ScrapeFileTest, WhatCanNotBeScrapedIsTriedAgainWithTheNextChange) {
  const auto file = Watched();
  refusal_ = absl::UnavailableError("no cluster");
  Write(Job("two"));
  file->Reload();
  EXPECT_EQ(file->LastReload(), refusal_);
  refusal_ = absl::OkStatus();
  file->Reload();
  EXPECT_TRUE(file->LastReload().ok());
  EXPECT_THAT(applied_, ElementsAre("one ", "two "));
}

// Since the failure may have ended what was in force.
TEST_F(ScrapeFileTest, AfterOneThatCouldNotBeAppliedTheEarlierOneIsAppliedAgain) {
  const auto file = Watched();
  refusal_ = absl::UnavailableError("no cluster");
  Write(Job("two"));
  file->Reload();
  refusal_ = absl::OkStatus();
  Write(Job("one"));
  file->Reload();
  EXPECT_TRUE(file->LastReload().ok());
  EXPECT_THAT(applied_, ElementsAre("one ", "one "));
  file->Reload();
  EXPECT_EQ(applied_.size(), 2u);
}

TEST_F(ScrapeFileTest, AnnotatedPodsAreAJobBesides) {
  const auto file = Watched({scrape::AnnotatedPods(absl::Seconds(1))});
  Write("scrape_configs: []\n");
  file->Reload();
  ASSERT_EQ(applied_.size(), 2u);
  EXPECT_THAT(applied_[0], testing::StartsWith("one "));
  EXPECT_EQ("one " + applied_[1], applied_[0]);
}

TEST_F(ScrapeFileTest, WithoutAFileThereIsNothingToReload) {
  path_.clear();
  const auto file = Watched();
  file->Reload();
  EXPECT_THAT(applied_, ElementsAre(""));
  EXPECT_TRUE(file->LastReload().ok());
}

}  // namespace
}  // namespace flyball::serve
