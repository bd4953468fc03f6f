#include "scaler/views/decision_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/clock.h"
#include "base/read_file.h"
#include "base/test_log.h"
#include "scaler/views/decision_line.h"

namespace flyball::scaler {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const absl::Time kNow = absl::FromUnixMillis(1772600767250);

// Grows from 4 to 6 by `queue`, which alone would have 9.
struct Grown {
  explicit Grown(std::string name = "web") {
    auto one = std::make_shared<Managed>();
    one->key = {.kind = AutoscalerKind::kHpa, .ns = "shop", .name = std::move(name)};
    one->autoscaler.min_replicas = 2;
    one->autoscaler.max_replicas = 6;
    one->scheduled = "schedule \"a\": minReplicas 2";
    managed = one;
    decision.outcome = Outcome::kDecided;
    decision.current = 4;
    decision.desired = 6;
    decision.rescale = true;
    decision.recommendation = 9;
    decision.proposals.resize(1);
    decision.proposals[0].valid = true;
    decision.proposals[0].replicas = 9;
    decision.proposals[0].name = "external metric queue(nil)";
    decision.proposals[0].age = absl::Milliseconds(1500);
    decision.combination.emplace().winner = 0;
    decision.limiting.emplace().by = LimitedBy::kMaxReplicas;
  }
  DecisionRecord record() const {
    DecisionRecord out;
    out.managed = managed;
    out.mode = Mode::kAct;
    out.decision = &decision;
    out.time = kNow;
    out.scale_written = true;
    return out;
  }
  ManagedPtr managed;
  Decision decision;
};

TEST(DecisionLineTest, SaysWhatWasDecidedAndWhy) {
  const Grown grown;
  const std::string line = DecisionLine(grown.record());
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_EQ(json::parse(line), json::parse(R"json({
    "time": "2026-03-04T05:06:07.250Z", "kind": "HorizontalPodAutoscaler", "namespace": "shop",
    "name": "web", "mode": "act", "outcome": "Decided", "current": 4, "desired": 6, "min": 2,
    "max": 6, "unbounded": 9, "reason": "max_replicas", "metric": "external metric queue(nil)",
    "proposal": 9, "readingAgeSeconds": 1.5, "written": true,
    "schedules": "schedule \"a\": minReplicas 2"
})json"));
}

TEST(DecisionLineTest, WhatIsNotKnownIsLeftOut) {
  Grown failed;
  failed.decision.outcome = Outcome::kScaleUnknown;
  failed.decision.error = "no such \xff target";
  const json line = json::parse(DecisionLine(failed.record()));
  for (const char* member : {"current", "desired", "unbounded", "metric", "readingAgeSeconds"}) {
    EXPECT_FALSE(line.contains(member)) << member;
  }
  EXPECT_EQ(line["reason"], "scale_unknown");
  EXPECT_THAT(line["error"].get<std::string>(), HasSubstr("no such"));
}

class DecisionFileTest : public testing::Test {
 protected:
  DecisionFileTest() {
    std::filesystem::remove_all(folder_), std::filesystem::create_directories(folder_);
  }
  ~DecisionFileTest() override { std::filesystem::remove_all(folder_); }

  std::vector<std::string> Lines(const std::string& end = "") const {
    const auto text = ReadFile(path_ + end);
    return absl::StrSplit(text.value_or(""), '\n', absl::SkipEmpty());
  }

  const std::string folder_ =
      absl::StrCat(testing::TempDir(), "/decision_file_",
                   testing::UnitTest::GetInstance()->current_test_info()->name());
  const std::string path_ = folder_ + "/decisions";
  SimulatedClock clock_{kNow};
};

TEST_F(DecisionFileTest, OnlyNewsAreWritten) {
  DecisionFile file(path_, 1 << 20, clock_);
  ASSERT_TRUE(file.Start().ok());
  Grown grown;
  file.OnDecision(grown.record());
  file.OnDecision(grown.record());
  grown.decision.recommendation = 8;  // the load moves, nothing follows from it
  file.OnDecision(grown.record());
  file.Flush();
  EXPECT_THAT(Lines(), SizeIs(1));
  grown.decision.desired = 5;
  file.OnDecision(grown.record());
  DecisionRecord unchanged = grown.record();
  unchanged.unchanged = true;
  file.OnDecision(unchanged);
  file.OnDecision(Grown("other").record());
  file.OnForgotten(grown.managed->key);
  file.OnDecision(grown.record());  // another one of that name
  file.Stop();
  ASSERT_THAT(Lines(), SizeIs(4));
  EXPECT_EQ(json::parse(Lines()[2])["name"], "other");
}

TEST_F(DecisionFileTest, ALongFileIsRenamedAndTwoAreKept) {
  constexpr size_t kMost = 2000;
  Grown grown;
  for (int i = 0; i < 3; ++i) {  // also across starts
    DecisionFile file(path_, kMost, clock_);
    ASSERT_TRUE(file.Start().ok());
    for (int j = 0; j < 10; ++j) {
      grown.decision.desired = 10 * i + j;
      file.OnDecision(grown.record());
      file.Flush();
      EXPECT_LE(std::filesystem::file_size(path_), kMost);
    }
  }
  EXPECT_LE(std::filesystem::file_size(path_ + ".1"), kMost);
  EXPECT_FALSE(std::filesystem::exists(path_ + ".2"));
  ASSERT_FALSE(Lines().empty());
  EXPECT_EQ(json::parse(Lines().back())["desired"], 29);
  EXPECT_EQ(json::parse(Lines(".1").back())["desired"].get<int>() + 1,
            json::parse(Lines().front())["desired"].get<int>());
}

TEST_F(DecisionFileTest, WhatWaitsIsLimited) {
  DecisionFile file(path_, size_t{1} << 30, clock_);  // not started: nobody writes meanwhile
  Grown grown;
  for (int i = 0; i < 10000; ++i) {
    grown.decision.desired = i;
    file.OnDecision(grown.record());
  }
  file.Flush();
  EXPECT_LE(std::filesystem::file_size(path_), DecisionFile::kMaxWaiting);
  EXPECT_GT(Lines().size(), 1000u);
  EXPECT_LT(Lines().size(), 10000u);
}

TEST_F(DecisionFileTest, AFullDiskIsSaidOnceAndWhatWasLostIsCounted) {
  std::filesystem::create_symlink("/dev/full", path_);
  DecisionFile file(path_, 1 << 20, clock_);  // not started: nobody writes meanwhile
  const TestLog log;
  Grown grown;
  const auto write = [&] {
    ++grown.decision.desired;
    file.OnDecision(grown.record());
    file.OnDecision(Grown(absl::StrCat(grown.decision.desired)).record());
    file.Flush();
  };
  for (int i = 0; i < 5; ++i) write();
  EXPECT_EQ(log.Count("No space left on device; lines are dropped"), 1u);
  std::filesystem::remove(path_);
  write();
  EXPECT_EQ(log.Count("10 lines of the decision log were dropped: it could not be"), 1u);
  EXPECT_THAT(Lines(), SizeIs(2));
  write();
  EXPECT_EQ(log.Count("were dropped"), 1u);
}

TEST_F(DecisionFileTest, ManyLinesWaitForNoSecond) {
  DecisionFile file(path_, size_t{1} << 30, clock_);
  ASSERT_TRUE(file.Start().ok());
  Grown grown;
  for (size_t bytes = 0; bytes <= DecisionFile::kMany;
       bytes += DecisionLine(grown.record()).size()) {
    ++grown.decision.desired;
    file.OnDecision(grown.record());
  }
  while (Lines().empty()) std::this_thread::yield();  // the clock stands still
}

TEST_F(DecisionFileTest, AFileThatCannotBeOpenedIsSaid) {
  DecisionFile file(folder_, 1 << 20, clock_);
  const absl::Status status = file.Start();
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr(folder_));
}

}  // namespace
}  // namespace flyball::scaler
