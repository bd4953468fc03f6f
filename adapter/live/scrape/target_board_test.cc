#include "adapter/live/scrape/target_board.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <thread>

#include "adapter/live/scrape/testing/recorded_store.h"

namespace flyball::scrape {
namespace {

absl::StatusOr<std::unique_ptr<PageFetcher>> MakeNone(const Job&, const Target&) {
  return absl::UnavailableError("no pages here");
}

// The targets of a job with one static target, "known:1", and a cluster's.
class TargetBoardTest : public testing::Test {
 protected:
  void NewBoard(const std::string& more = "") {
    rules::Findings findings("f");
    const Config config = ReadScrapeConfig(
        "scrape_configs:\n- job_name: web\n  static_configs: [{targets: ['known:1']}]\n"
        "  kubernetes_sd_configs: [{role: pod}]\n" +
            more,
        findings);
    board_.reset();
    board_.emplace(clock_, scheduler_, config.jobs);
  }
  void Find(const std::string& address) {
    TargetGroup group;
    group.source = "pod/" + address;
    group.targets.push_back({{"__address__", address}});
    board_->Change(0, "kubernetes/0", {group});
  }
  void Lose(const std::string& address) {
    TargetGroup group;
    group.source = "pod/" + address;
    board_->Change(0, "kubernetes/0", {group});
  }
  std::set<std::string> Origins() {
    std::set<std::string> origins;
    for (const TargetState& state : scheduler_.States()) origins.insert(state.target.origin);
    return origins;
  }
  bool Refused(const std::string& address) {
    for (const TargetState& state : scheduler_.States()) {
      if (state.target.origin == "http://" + address) {
        return absl::IsResourceExhausted(state.last.status);
      }
    }
    return false;
  }
  // Until the last scrape of that target was refused, or was not.
  void AwaitRefused(const std::string& address, bool refused) {
    while (Refused(address) != refused) {
      clock_.Advance(TargetBoard::kGather);
      std::this_thread::yield();
    }
  }
  // Once the board has found that target too, and told the scheduler.
  std::set<std::string> OriginsWith(const std::string& address) {
    Find(address);
    while (true) {
      std::set<std::string> origins = Origins();
      if (origins.contains("http://" + address)) return origins;
      clock_.Advance(TargetBoard::kGather);
      std::this_thread::yield();
    }
  }

  SimulatedClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  RecordedStore store_;
  Scheduler scheduler_{clock_, store_, MakeNone, {}};
  std::optional<TargetBoard> board_;
};

TEST_F(TargetBoardTest, TargetsOfAnEarlierBoardStayUntilTheClusterHasBeenListed) {
  using Set = std::set<std::string>;
  NewBoard();
  OriginsWith("a:1");
  OriginsWith("b:1");
  NewBoard();
  EXPECT_EQ(OriginsWith("c:1"), (Set{"http://a:1", "http://b:1", "http://c:1", "http://known:1"}));
  Lose("c:1");
  Find("b:1");
  EXPECT_EQ(OriginsWith("d:1"), (Set{"http://a:1", "http://b:1", "http://d:1", "http://known:1"}))
      << "c is gone, as the same board knows";
  board_->Complete(0);
  EXPECT_EQ(OriginsWith("e:1"), (Set{"http://b:1", "http://d:1", "http://e:1", "http://known:1"}));
}

TEST_F(TargetBoardTest, WhatComesAndGoesWithinAMomentTakesNothingFromAnEarlierBoard) {
  using Set = std::set<std::string>;
  NewBoard();
  OriginsWith("a:1");
  NewBoard();
  OriginsWith("b:1");
  TargetGroup found, lost;
  found.source = lost.source = "pod/a:1";
  found.targets.push_back({{"__address__", "a:1"}});
  board_->Change(0, "kubernetes/0", {found, lost});
  EXPECT_EQ(OriginsWith("c:1"), (Set{"http://a:1", "http://b:1", "http://c:1", "http://known:1"}));
}

// A job may have thousands.
TEST_F(TargetBoardTest, OnlyWhatHasChangedIsTold) {
  using Set = std::set<std::string>;
  NewBoard();
  board_->Complete(0);
  OriginsWith("a:1");
  OriginsWith("b:1");
  // Behind the board's back, so that what it tells next is all that there is.
  scheduler_.Replace(board_->jobs()[0], {});
  EXPECT_EQ(OriginsWith("c:1"), (Set{"http://c:1"}));
}

TEST_F(TargetBoardTest, OneTargetTooManyConcernsAll) {
  NewBoard("  target_limit: 2\n  scrape_interval: 1s\n");
  board_->Complete(0);
  OriginsWith("a:1");
  EXPECT_FALSE(Refused("known:1"));
  Find("b:1");
  AwaitRefused("known:1", true);
  AwaitRefused("b:1", true);
  Lose("a:1");
  AwaitRefused("known:1", false);
}

}  // namespace
}  // namespace flyball::scrape
