#include "adapter/live/discovery/file_discovery.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "adapter/live/scrape/testing/recorded_store.h"

namespace flyball::discovery {
namespace {

class OnePage : public scrape::PageFetcher {
 public:
  absl::StatusOr<scrape::Page> Fetch() override { return scrape::Page{"a 1\n", {}}; }
  void Shutdown() override {}
};

absl::StatusOr<std::unique_ptr<scrape::PageFetcher>> MakeOnePage(const scrape::Job&,
                                                                 const scrape::Target&) {
  return std::make_unique<OnePage>();
}

class FileDiscoveryTest : public testing::Test {
 protected:
  FileDiscoveryTest() : folder_(absl::StrCat(testing::TempDir(), "/flyball-targets-", getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~FileDiscoveryTest() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& file, const std::string& text) {
    std::ofstream(absl::StrCat(folder_, "/", file)) << text;
  }
  void Start() {
    scheduler_.emplace(clock_, store_, MakeOnePage, scrape::SchedulerOptions());
    Discover();
  }
  // As after an edit of the scrape configuration: the scheduler goes on with another board.
  void Discover() {
    discovery_.reset();
    board_.reset();
    rules::Findings findings("f");
    const auto config = scrape::ReadScrapeConfig(
        absl::StrCat("scrape_configs:\n- job_name: web\n  scrape_interval: 1s\n  file_sd_configs: "
                     "[{files: ['",
                     folder_, "/*.json', '", folder_, "/*.yml']}]\n"),
        findings);
    ASSERT_FALSE(findings.has_errors());
    board_.emplace(clock_, *scheduler_, config.jobs);
    discovery_.emplace(clock_, *board_, 0, 0);
  }
  // Moves time until the target has been scraped once more, within the second that is promised
  // beyond its first scrape.
  void AwaitScrape(const std::string& address) {
    const std::string up = absl::StrCat("up{instance=", address, ",job=web}");
    // Each step is waited for by the threads that sleep until then.
    while (store_.Of(up).empty()) {
      clock_.Advance(absl::Milliseconds(50));
      std::this_thread::yield();
    }
  }
  bool IsTarget(const std::string& origin) {
    for (const auto& state : scheduler_->States()) {
      if (state.target.origin == origin) return true;
    }
    return false;
  }

  void AwaitEndOf(const std::string& origin) {
    while (IsTarget(origin)) {
      clock_.Advance(absl::Milliseconds(50));
      std::this_thread::yield();
    }
  }

  const std::string folder_;
  SimulatedClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  scrape::RecordedStore store_;
  std::optional<scrape::Scheduler> scheduler_;
  std::optional<scrape::TargetBoard> board_;
  std::optional<FileDiscovery> discovery_;
};

TEST_F(FileDiscoveryTest, FilesThatAreAddedBrokenAndRemoved) {
  Write("a.json", R"([{"targets": ["h:1"]}])");
  Start();
  AwaitScrape("h:1");
  Write("b.json", R"([{"targets": ["i:1"]}])");
  AwaitScrape("i:1");
  Write("a.json", "[{");  // its last targets stay
  Write("c.json", R"([{"targets": ["j:1"]}])");
  AwaitScrape("j:1");
  EXPECT_TRUE(IsTarget("http://h:1"));
  Write("a.json", "");
  Write("d.json", R"([{"targets": ["l:1"]}])");
  AwaitScrape("l:1");
  EXPECT_TRUE(IsTarget("http://h:1"));
  Write("a.json", R"([{"targets": ["k:1"]}])");
  AwaitScrape("k:1");
  EXPECT_FALSE(IsTarget("http://h:1"));
  std::filesystem::remove(folder_ + "/b.json");
  AwaitEndOf("http://i:1");
}

TEST_F(FileDiscoveryTest, AFileThatBecomesEmptyKeepsItsTargets) {
  Write("a.yml", "- targets: ['h:1']\n");
  Start();
  AwaitScrape("h:1");
  Write("a.yml", "\n");
  Write("b.yml", "- targets: ['i:1']\n");  // read after it
  AwaitScrape("i:1");
  EXPECT_TRUE(IsTarget("http://h:1"));
  Write("a.yml", "[]\n");
  AwaitEndOf("http://h:1");
}

TEST_F(FileDiscoveryTest, TargetsOfAnEarlierBoardStayUntilEachFileHasBeenRead) {
  Write("a.json", R"([{"targets": ["h:1"]}])");
  Start();
  AwaitScrape("h:1");
  Write("a.json", "[{");
  Discover();
  Write("b.json", R"([{"targets": ["i:1"]}])");
  AwaitScrape("i:1");
  EXPECT_TRUE(IsTarget("http://h:1"));
  Write("a.json", R"([{"targets": ["j:1"]}])");
  AwaitScrape("j:1");
  AwaitEndOf("http://h:1");
  EXPECT_TRUE(IsTarget("http://i:1"));
}

TEST_F(FileDiscoveryTest, WithoutFilesTargetsOfAnEarlierBoardEnd) {
  Write("a.json", R"([{"targets": ["h:1"]}])");
  Start();
  AwaitScrape("h:1");
  std::filesystem::remove(folder_ + "/a.json");
  Discover();
  AwaitEndOf("http://h:1");
}

}  // namespace
}  // namespace flyball::discovery
