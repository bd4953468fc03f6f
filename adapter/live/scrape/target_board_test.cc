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
  void NewBoard() {
    rules::Findings findings("f");
    const Config config = ReadScrapeConfig(
        "scrape_configs:\n- job_name: web\n  static_configs: [{targets: ['known:1']}]\n"
        "  kubernetes_sd_configs: [{role: pod}]\n",
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

}  // namespace
}  // namespace flyball::scrape
