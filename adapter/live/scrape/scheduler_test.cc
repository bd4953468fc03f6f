#include "adapter/live/scrape/scheduler.h"

#include <gtest/gtest.h>

#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "adapter/live/scrape/testing/recorded_store.h"
#include "adapter/live/scrape/timing.h"

namespace flyball::scrape {
namespace {

constexpr char kPage[] = "a 1\n";

// Answers at once, or never until it is shut down.
class FakeFetcher : public PageFetcher {
 public:
  explicit FakeFetcher(bool hangs) : hangs_(hangs) {}
  absl::StatusOr<Page> Fetch() override {
    if (!hangs_) return Page{kPage, PageFormat::kText};
    shut_down_.WaitForNotification();
    return absl::CancelledError("shut down");
  }
  void Shutdown() override {
    if (!shut_down_.HasBeenNotified()) shut_down_.Notify();
  }

 private:
  const bool hangs_;
  absl::Notification shut_down_;
};

absl::StatusOr<std::unique_ptr<PageFetcher>> MakeFake(const Job&, const Target& target) {
  return std::make_unique<FakeFetcher>(target.origin == "http://hangs:1");
}

Job JobOf(const std::string& more) {
  rules::Findings findings("f");
  return std::move(
      ReadScrapeConfig("scrape_configs:\n- job_name: web\n" + more, findings).jobs.at(0));
}

class SchedulerTest : public testing::Test {
 protected:
  void Start(const std::string& job, SchedulerOptions options = {}) {
    job_ = std::make_shared<const Job>(JobOf(job));
    scheduler_.emplace(clock_, store_, MakeFake, options);
    scheduler_->Replace(job_, MakeTargets(*job_, job_->static_groups));
  }
  // Until so many samples of the series are there, and that they are.
  void AdvanceUntil(const std::string& series, size_t count, absl::Duration by) {
    clock_.Advance(by);
    store_.AwaitSamples(series, count);
  }

  const absl::Time start_ = absl::FromUnixSeconds(1'700'000'000);
  SimulatedClock clock_{start_};
  RecordedStore store_;
  std::shared_ptr<const Job> job_;
  std::optional<Scheduler> scheduler_;
};

constexpr char kUp[] = "up{instance=h:1,job=web}";

TEST_F(SchedulerTest, ANewTargetIsScrapedWithinASecondAndThenAtItsTicks) {
  Start("  static_configs: [{targets: ['h:1']}]\n");
  const Target target = MakeTargets(*job_, job_->static_groups).active.at(0);
  AdvanceUntil(kUp, 1, absl::Seconds(1));
  const absl::Time tick = start_ + FirstWait(start_, absl::Minutes(1), target.hash, 0);
  ASSERT_GT(tick, start_ + absl::Seconds(1));  // or this test shows nothing
  AdvanceUntil(kUp, 2, tick - clock_.WallNow());
  AdvanceUntil(kUp, 3, absl::Minutes(1) + absl::Milliseconds(2));
  const int64_t first = absl::ToUnixMillis(start_ + absl::Seconds(1));
  const int64_t second = absl::ToUnixMillis(tick);
  EXPECT_EQ(store_.Of(kUp), absl::StrCat(first, ":1 ", second, ":1 ", second + 60'000, ":1"));
}

TEST_F(SchedulerTest, OneThatHangsDelaysNoOther) {
  Start("  scrape_interval: 1s\n  static_configs: [{targets: ['hangs:1', 'h:1']}]\n",
        {.quick_threads = 2});
  for (size_t i = 1; i <= 5; ++i) AdvanceUntil(kUp, i, absl::Seconds(1));
  EXPECT_EQ(store_.Of("up{instance=hangs:1,job=web}"), "");
}

TEST_F(SchedulerTest, ATargetThatIsGoneGetsItsMarkersLater) {
  Start("  scrape_interval: 10s\n  static_configs: [{targets: ['h:1']}]\n");
  const Target target = MakeTargets(*job_, job_->static_groups).active.at(0);
  const absl::Duration wait = FirstWait(start_, absl::Seconds(10), target.hash, 0);
  clock_.Advance(absl::Seconds(1));
  // A scrape that ends after the clock has moved on has missed a tick.
  while (scheduler_->totals().scrapes == 0) std::this_thread::yield();
  scheduler_->Remove("web");
  EXPECT_TRUE(scheduler_->States().empty());
  // The tick that does not come, and 1.1 intervals after it.
  clock_.Advance(wait - absl::Seconds(1));
  AdvanceUntil("a{instance=h:1,job=web}", 2, absl::Seconds(11));
  store_.AwaitSamples(kUp, 2);
  EXPECT_EQ(store_.Of(kUp), absl::StrCat(absl::ToUnixMillis(start_ + absl::Seconds(1)), ":1 ",
                                         absl::ToUnixMillis(start_ + wait), ":stale"));
}

TEST_F(SchedulerTest, MoreTargetsThanTheLimitAreAllDown) {
  Start("  target_limit: 1\n  static_configs: [{targets: ['h:1', 'i:1']}]\n");
  clock_.Advance(absl::Seconds(1));
  store_.AwaitSamples(kUp, 1);
  EXPECT_EQ(store_.Of("a{instance=h:1,job=web}"), "");
  EXPECT_TRUE(absl::EndsWith(store_.Of(kUp), ":0"));
}

TEST_F(SchedulerTest, StatesSayWhatCameOfTheLastScrape) {
  Start("  static_configs: [{targets: ['h:1']}]\n");
  ASSERT_EQ(scheduler_->States().size(), 1u);
  EXPECT_EQ(scheduler_->States()[0].last_scrape, absl::InfinitePast());
  EXPECT_EQ(scheduler_->States()[0].target.origin, "http://h:1");
}

}  // namespace
}  // namespace flyball::scrape
