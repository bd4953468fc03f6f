#include "adapter/live/scrape/scheduler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "adapter/live/scrape/testing/job_of.h"
#include "adapter/live/scrape/testing/recorded_store.h"
#include "adapter/live/scrape/timing.h"
#include "base/test_log.h"

namespace flyball::scrape {
namespace {

// A page of so many series, each with a value of that length.
std::string PageOf(int series, size_t length) {
  std::string page;
  for (int i = 0; i < series; ++i) {
    absl::StrAppend(&page, "a{b=\"", i, std::string(length, 'x'), "\"} 1\n");
  }
  return page;
}

// The page of the target at that host.
std::string PageAt(absl::string_view origin) {
  if (origin == "http://large:1") return PageOf(5000, 1000);
  if (origin == "http://rest:1") return PageOf(1950, 1000);
  if (absl::StartsWith(origin, "http://bad")) return "no page\n";
  return origin == "http://small:1" ? PageOf(2000, 1) : "a 1\n";
}

// Answers at once, or never until it is shut down.
class FakeFetcher : public PageFetcher {
 public:
  FakeFetcher(std::string page, bool hangs) : page_(std::move(page)), hangs_(hangs) { ++alive; }
  ~FakeFetcher() override { --alive; }
  absl::StatusOr<Page> Fetch() override {
    if (!hangs_) return Page{page_, PageFormat::kText};
    shut_down_.WaitForNotification();
    return absl::CancelledError("shut down");
  }
  void Shutdown() override {
    if (!shut_down_.HasBeenNotified()) shut_down_.Notify();
  }

  static inline std::atomic<int> alive = 0;

 private:
  const std::string page_;
  const bool hangs_;
  absl::Notification shut_down_;
};

absl::StatusOr<std::unique_ptr<PageFetcher>> MakeFake(const Job&, const Target& target) {
  return std::make_unique<FakeFetcher>(PageAt(target.origin),
                                       absl::StartsWith(target.origin, "http://hangs"));
}

// As the function that it hides, but with hashes that are the same in each run: the first target
// has its ticks 5.5 s after an interval began, each other one a few milliseconds later.
Targets MakeTargets(const Job& job, const std::vector<TargetGroup>& groups) {
  Targets targets = scrape::MakeTargets(job, absl::MakeConstSpan(groups));
  uint64_t hash = 5'500'000'000;
  for (Target& target : targets.active) target.hash = std::exchange(hash, hash + 7'777'777);
  return targets;
}

class SchedulerTest : public testing::Test {
 protected:
  void Start(const std::string& job, SchedulerOptions options = {}) {
    job_ = std::make_shared<const Job>(JobOf(job));
    scheduler_.emplace(clock_, store_, MakeFake, options);
    scheduler_->Replace(job_, MakeTargets(*job_, job_->static_groups));
  }
  // As if pods of that namespace had asked for these, beside those that there are.
  void AddPods(const std::string& ns, const std::vector<std::string>& addresses) {
    TargetGroup& group = groups_.emplace_back();
    group.labels = {{"namespace", ns}};
    for (const std::string& address : addresses) {
      group.targets.push_back({{"__address__", address}});
    }
    scheduler_->Replace(job_, MakeTargets(*job_, groups_));
  }
  void StartForPods(SchedulerOptions options) {
    Job job = JobOf("  scrape_interval: 1s\n");
    job.asked_for_by_pods = true;
    job_ = std::make_shared<const Job>(job);
    scheduler_.emplace(clock_, store_, MakeFake, options);
  }
  // Until so many samples of the series are there, and that they are.
  void AdvanceUntil(const std::string& series, size_t count, absl::Duration by) {
    clock_.Advance(by);
    store_.AwaitSamples(series, count);
  }

  void AwaitScrapes(uint64_t count) {
    while (scheduler_->totals().scrapes < count) std::this_thread::yield();
  }
  // Scrapes the job, adds this to it, and goes on until nothing is left of the scraper of before.
  void EditAfterAScrape(const std::string& more) {
    const std::string text = "  scrape_interval: 10s\n  static_configs: [{targets: ['h:1']}]\n";
    Start(text);
    const Target target = MakeTargets(*job_, job_->static_groups).active.at(0);
    const absl::Duration tick = FirstWait(start_, absl::Seconds(10), target.hash, 0);
    ASSERT_GT(tick, absl::Seconds(2));  // or the scrapes are others than these
    clock_.Advance(absl::Seconds(1));
    AwaitScrapes(1);
    job_ = std::make_shared<const Job>(JobOf(text + more));
    scheduler_->Replace(job_, MakeTargets(*job_, job_->static_groups));
    clock_.Advance(absl::Seconds(1));
    AwaitScrapes(2);
    clock_.Advance(tick - absl::Seconds(2));
    AwaitScrapes(3);
    clock_.Advance(absl::Seconds(10));
    AwaitScrapes(4);
    clock_.Advance(absl::Seconds(1));
    while (FakeFetcher::alive > 1) std::this_thread::yield();
  }

  // Until one more scrape is over, of the only target.
  void Scrape(absl::Duration by) {
    const uint64_t before = scheduler_->totals().scrapes;
    clock_.Advance(by);
    AwaitScrapes(before + 1);
  }
  // The early scrape of the job's only target, and the one at its first tick.
  void ScrapeTwice(const std::string& job) {
    Start(job);
    const Target target = MakeTargets(*job_, job_->static_groups).active.at(0);
    const absl::Duration tick = FirstWait(start_, target.interval, target.hash, 0);
    ASSERT_GT(tick, absl::Seconds(1));  // or there is no early scrape
    Scrape(absl::Seconds(1));
    Scrape(tick - absl::Seconds(1));
  }
  // As if somebody had set it; the store then drops what has samples of the future.
  void SetClock(absl::Duration step) {
    clock_.JumpWall(clock_.WallNow() + step);
    if (step < absl::ZeroDuration()) store_.DropAll();
  }

  const absl::Time start_ = absl::FromUnixSeconds(1'700'000'000);
  SimulatedClock clock_{start_};
  RecordedStore store_;
  std::shared_ptr<const Job> job_;
  std::vector<TargetGroup> groups_;
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

TEST_F(SchedulerTest, WhyATargetFailsIsToldOnceAndNotOfAllTargetsAtOnce) {
  const TestLog log;
  Start(
      "  scrape_interval: 1s\n"
      "  static_configs: [{targets: ['bad:1', 'bad:2', 'h:1']}]\n"
      "  metrics_path: /m\n"
      "  params: {token: [secret]}\n");
  for (uint64_t scrapes = 3; scrapes <= 3 * 9; scrapes += 3) {
    clock_.Advance(absl::Seconds(1));
    AwaitScrapes(scrapes);
  }
  scheduler_.reset();
  EXPECT_EQ(log.Count("scrape: job web: http://bad:"), 1u);
  EXPECT_EQ(log.Count("/m fails: "), 1u);
  EXPECT_EQ(log.Count("secret"), 0u);
}

TEST_F(SchedulerTest, TenThousandNewTargetsAreAllScrapedWithinFiveSeconds) {
  store_.LimitSeries(100'000);
  std::string targets;
  for (int i = 1; i <= 10'000; ++i) absl::StrAppend(&targets, i == 1 ? "'h:" : ",'h:", i, "'");
  Start(absl::StrCat("  static_configs: [{targets: [", targets, "]}]\n"));
  clock_.Advance(absl::Seconds(5));
  // The last of all begins in an interval, if not within these seconds.
  const auto deadline = absl::Now() + absl::Seconds(60);
  while (scheduler_->totals().scrapes < 10'000 && absl::Now() < deadline) std::this_thread::yield();
  EXPECT_EQ(scheduler_->totals().scrapes, 10'000);
}

TEST_F(SchedulerTest, OneThatHangsDelaysNoOther) {
  Start("  scrape_interval: 1s\n  static_configs: [{targets: ['hangs:1', 'h:1']}]\n",
        {.quick_threads = 2});
  for (size_t i = 1; i <= 5; ++i) AdvanceUntil(kUp, i, absl::Seconds(1));
  EXPECT_EQ(store_.Of("up{instance=hangs:1,job=web}"), "");
}

TEST_F(SchedulerTest, ANamespaceWhosePodsHangDelaysNoOther) {
  StartForPods({.quick_threads = 4});
  AddPods("a", {"hangs:1", "hangs:2", "hangs:3", "hangs:4", "hangs:5", "hangs:6"});
  clock_.Advance(absl::Seconds(1));
  AddPods("b", {"h:1"});
  for (size_t i = 1; i <= 5; ++i) {
    AdvanceUntil("up{instance=h:1,job=web,namespace=b}", i, absl::Seconds(1));
  }
}

TEST_F(SchedulerTest, ANamespaceWithManyNamesLeavesRoomForThoseOfOthers) {
  store_.LimitSeries(100'000);
  StartForPods({.max_bytes = 8 << 20});
  AddPods("a", {"large:1"});
  AdvanceUntil("up{instance=large:1,job=web,namespace=a}", 1, absl::Seconds(1));
  AddPods("a", {"rest:1"});
  const std::string rest = "up{instance=rest:1,job=web,namespace=a}";
  AdvanceUntil(rest, 1, absl::Seconds(1));
  AddPods("b", {"small:1"});
  const std::string small = "up{instance=small:1,job=web,namespace=b}";
  AdvanceUntil(small, 1, absl::Seconds(1));
  EXPECT_TRUE(absl::EndsWith(store_.Of(small), ":1"));
  EXPECT_TRUE(absl::StartsWith(store_.Of("a{b=1999x,instance=small:1,job=web,namespace=b}"), "17"));
  EXPECT_TRUE(absl::EndsWith(store_.Of(rest), ":0"));
}

TEST_F(SchedulerTest, ATargetThatIsGoneGetsItsMarkersLater) {
  Start("  scrape_interval: 10s\n  static_configs: [{targets: ['h:1']}]\n");
  const Target target = MakeTargets(*job_, job_->static_groups).active.at(0);
  const absl::Duration wait = FirstWait(start_, absl::Seconds(10), target.hash, 0);
  clock_.Advance(absl::Seconds(1));
  // A scrape that ends after the clock has moved on has missed a tick.
  AwaitScrapes(1);
  scheduler_->Remove("web");
  EXPECT_TRUE(scheduler_->States().empty());
  // The tick that does not come, and 1.1 intervals after it.
  clock_.Advance(wait - absl::Seconds(1));
  AdvanceUntil("a{instance=h:1,job=web}", 2, absl::Seconds(11));
  store_.AwaitSamples(kUp, 2);
  EXPECT_EQ(store_.Of(kUp), absl::StrCat(absl::ToUnixMillis(start_ + absl::Seconds(1)), ":1 ",
                                         absl::ToUnixMillis(start_ + wait), ":stale"));
}

TEST_F(SchedulerTest, WhenAnEditRenamesSeriesThoseWithTheOldNamesEnd) {
  EditAfterAScrape("  metric_relabel_configs: [{target_label: x, replacement: y}]\n");
  EXPECT_TRUE(absl::EndsWith(store_.Of("a{instance=h:1,job=web}"), ":stale"));
  EXPECT_FALSE(absl::StrContains(store_.Of("a{instance=h:1,job=web,x=y}"), "stale"));
  EXPECT_FALSE(absl::StrContains(store_.Of(kUp), "stale")) << store_.Of(kUp);
}

TEST_F(SchedulerTest, SeriesThatAnEditDoesNotChangeGoOnWithoutAGap) {
  EditAfterAScrape("");
  EXPECT_FALSE(absl::StrContains(store_.Of("a{instance=h:1,job=web}"), "stale"));
  EXPECT_FALSE(absl::StrContains(store_.Of(kUp), "stale"));
}

// With another interval the target is another one. It has ticks at 30.5 s and then each minute, and
// the old one's next tick, of which its markers have the time, would be at 5.5 s.
TEST_F(SchedulerTest, SeriesGoOnWithoutAGapIfTheirIntervalBecomesLonger) {
  const std::string targets = "  static_configs: [{targets: ['h:1']}]\n";
  Start("  scrape_interval: 10s\n" + targets, {.quick_threads = 1});  // in the order of their ticks
  clock_.Advance(absl::Seconds(1));
  AwaitScrapes(1);
  job_ = std::make_shared<const Job>(JobOf("  scrape_interval: 1m\n" + targets));
  Targets changed = MakeTargets(*job_, job_->static_groups);
  changed.active.at(0).hash = 50'500'000'000;
  scheduler_->Replace(job_, changed);
  clock_.Advance(absl::Seconds(1));
  AwaitScrapes(2);
  clock_.Advance(absl::Milliseconds(14'500));
  clock_.Advance(absl::Seconds(14));
  AwaitScrapes(3);
  clock_.Advance(absl::Minutes(1));
  AwaitScrapes(4);
  clock_.Advance(absl::Seconds(42));
  while (FakeFetcher::alive > 1) std::this_thread::yield();
  EXPECT_FALSE(absl::StrContains(store_.Of("a{instance=h:1,job=web}"), "stale"));
  EXPECT_FALSE(absl::StrContains(store_.Of(kUp), "stale")) << store_.Of(kUp);
}

TEST_F(SchedulerTest, AfterTheClockWasSetBackMarkersEndNoSeriesThatGoesOn) {
  const std::string text = "  scrape_interval: 10s\n  static_configs: [{targets: ['h:1']}]\n";
  ScrapeTwice(text);
  SetClock(-absl::Minutes(5));
  Scrape(absl::Seconds(10));
  job_ = std::make_shared<const Job>(JobOf(text));
  scheduler_->Replace(job_, MakeTargets(*job_, job_->static_groups));
  Scrape(absl::Seconds(1));
  Scrape(absl::Seconds(9));
  for (int ticks = 0; ticks < 3; ++ticks) Scrape(absl::Seconds(10));
  while (FakeFetcher::alive > 1) std::this_thread::yield();
  const std::string now = absl::StrCat(absl::ToUnixMillis(clock_.WallNow()), ":1");
  EXPECT_TRUE(absl::EndsWith(store_.Of(kUp), now)) << store_.Of(kUp);
  EXPECT_TRUE(absl::EndsWith(store_.Of("a{instance=h:1,job=web}"), now));
}

TEST_F(SchedulerTest, AfterTheClockWasSetForwardMarkersStillEndSeries) {
  ScrapeTwice("  scrape_interval: 10s\n  static_configs: [{targets: ['h:1']}]\n");
  SetClock(absl::Minutes(1));
  Scrape(absl::Seconds(10));
  scheduler_->Remove("web");
  const absl::Time missed = clock_.WallNow() + absl::Seconds(10);
  clock_.Advance(absl::Seconds(10));
  clock_.Advance(absl::Seconds(11));
  while (FakeFetcher::alive > 0) std::this_thread::yield();
  const std::string marker = absl::StrCat(absl::ToUnixMillis(missed), ":stale");
  EXPECT_TRUE(absl::EndsWith(store_.Of(kUp), marker)) << store_.Of(kUp);
  EXPECT_TRUE(absl::EndsWith(store_.Of("a{instance=h:1,job=web}"), marker));
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
