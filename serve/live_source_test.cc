#include "serve/live_source.h"

#include <fcntl.h>
#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "base/test_thread_limit.h"
#include "base/thread_limit.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "serve/live_metrics.h"

namespace flyball::serve {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kRules[] =
    "externalRules:\n"
    "- {seriesQuery: jobs_waiting, resources: {namespaced: false}, metricsQuery: "
    "'sum(<<.Series>>{<<.LabelMatchers>>})'}\n";

constexpr char kMoreRules[] =
    "- {seriesQuery: mails_waiting, resources: {namespaced: false}, metricsQuery: "
    "'sum(<<.Series>>{<<.LabelMatchers>>})'}\n";

class LiveSourceTest : public testing::Test {
 protected:
  void SetUp() override {
    flags_.metric_source = "live";
    flags_.warmup = absl::ZeroDuration();
    folder_ =
        std::filesystem::path(testing::TempDir()) /
        absl::StrCat(testing::UnitTest::GetInstance()->current_test_info()->name(), "-", getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  absl::StatusOr<std::unique_ptr<LiveSource>> Make() {
    return LiveSource::Make(flags_, {.clock = clock_,
                                     .connect = [] { return absl::UnavailableError("none"); },
                                     .own_namespace = "",
                                     .on_new_series =
                                         [this] {
                                           absl::MutexLock lock(&mutex_);
                                           ++told_;
                                         },
                                     .relist_took = [this] { return relist_took_; }});
  }
  std::unique_ptr<LiveSource> MakeOrDie() {
    auto made = Make();
    EXPECT_TRUE(made.ok()) << made.status();
    (*made)->SetRules(*rules::CompileRules(rules_, "rules.yaml").rules);
    return *std::move(made);
  }
  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  static int Push(LiveSource& source, const std::string& page) {
    http::HttpRequest request;
    request.method = "POST";
    request.target = "/api/v1/push";
    request.body = page;
    return source.pages().at(1)->Answer(request).status;
  }
  // The values that a query has now.
  std::vector<double> Ask(LiveSource& source, const std::string& query) {
    const auto result = source.source().Query(query, clock_.WallNow(), absl::Seconds(1));
    EXPECT_TRUE(result.ok()) << result.status();
    std::vector<double> values;
    for (const adapter::Sample& sample : (*result)->samples) values.push_back(sample.value);
    return values;
  }
  // Whether it does not know enough samples for a query now.
  bool Refuses(LiveSource& source, const std::string& query) {
    return absl::IsUnavailable(
        source.source().Query(query, clock_.WallNow(), absl::Seconds(1)).status());
  }
  // A server gets one page after the other, and leaves a snapshot.
  void LeaveSnapshot(const std::string& page, absl::Duration later, const std::string& last) {
    flags_.snapshot = folder_ / "samples";
    const auto source = MakeOrDie();
    ASSERT_TRUE(source->Start().ok());
    EXPECT_EQ(Push(*source, page), 204);
    clock_.Advance(later);
    EXPECT_EQ(Push(*source, last), 204);
  }
  static prometheus::MetricFamily Family(LiveSource& source, const std::string& name) {
    for (const prometheus::MetricFamily& family : source.metrics()->Collect()) {
      if (family.name == name) return family;
    }
    ADD_FAILURE() << "no metric " << name;
    return {};
  }
  static double SeriesOf(LiveSource& source) {
    return Family(source, "flyball_live_series").metric.at(0).gauge.value;
  }
  static size_t TargetsOf(LiveSource& source) {
    return Family(source, "flyball_live_targets").metric.size();
  }
  void AwaitTold(int count) {
    absl::MutexLock lock(&mutex_);
    const auto reached = [this, count] { return told_ >= count; };
    mutex_.Await(absl::Condition(&reached));
  }

  // How often it has told, a second after that page. It has started, and two threads wait: one calls
  // those who follow answers.
  int ToldAfterSecond(LiveSource& source, const std::string& page) {
    clock_.AwaitWaits(waits_);
    EXPECT_EQ(Push(source, page), 204);
    clock_.Advance(absl::Seconds(1));
    clock_.AwaitWaits(++waits_);
    absl::MutexLock lock(&mutex_);
    return told_;
  }
  // The same for thirteen pods, one after the other.
  std::vector<int> ToldOfPods(LiveSource& source) {
    std::vector<int> told;
    for (int pod = 0; pod < 13; ++pod) {
      told.push_back(ToldAfterSecond(source, absl::StrCat("jobs_waiting{pod=\"", pod, "\"} 3\n")));
    }
    return told;
  }

  std::filesystem::path folder_;
  SimulatedClock clock_{absl::FromUnixSeconds(1700000000)};
  LiveFlags flags_;
  std::string rules_ = kRules;
  absl::Mutex mutex_;
  int told_ = 0;
  absl::Duration relist_took_;
  uint64_t waits_ = 2;
};

TEST_F(LiveSourceTest, KeepsWhatTheRulesReadAndWhatTheFlagSays) {
  flags_.keep = {"asked_by_people"};
  const auto source = MakeOrDie();
  EXPECT_EQ(Push(*source, "jobs_waiting 3\nasked_by_people 4\nnobody_asks 5\n"), 204);
  EXPECT_THAT(Ask(*source, "jobs_waiting"), ElementsAre(3));
  EXPECT_THAT(Ask(*source, "asked_by_people"), ElementsAre(4));
  EXPECT_EQ(SeriesOf(*source), 2);
  EXPECT_TRUE(Refuses(*source, "nobody_asks")) << "it is unknown, not absent";
}

TEST_F(LiveSourceTest, TellsOfNewSeriesAndNotOfNewSamples) {
  const auto source = MakeOrDie();
  ASSERT_TRUE(source->Start().ok());
  clock_.AwaitWaits(2);  // one is that of the thread which calls those who follow answers
  EXPECT_EQ(Push(*source, "jobs_waiting 3\n"), 204);
  clock_.Advance(absl::Seconds(1));
  AwaitTold(1);
  clock_.AwaitWaits(3);
  clock_.Advance(absl::Seconds(1));
  AwaitTold(2);  // once more, for a series is made before its first sample
  clock_.AwaitWaits(4);
  EXPECT_EQ(Push(*source, "jobs_waiting 4\n"), 204);
  clock_.Advance(absl::Seconds(1));
  clock_.AwaitWaits(5);
  source->Stop();
  EXPECT_EQ(told_, 2);
}

// Each pod that appears has such series, and to look for names takes as long as there are series.
TEST_F(LiveSourceTest, TellsSeldomOfNewSeriesWhoseNamesOthersHave) {
  const auto source = MakeOrDie();
  ASSERT_TRUE(source->Start().ok());
  EXPECT_THAT(ToldOfPods(*source), ElementsAre(1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 4, 4));
  EXPECT_EQ(ToldAfterSecond(*source, "jobs_waiting{node=\"a\"} 3\n"), 5) << "another label";
}

TEST_F(LiveSourceTest, TellsMoreSeldomOfThemIfARelistTakesLong) {
  relist_took_ = absl::Milliseconds(500);
  const auto source = MakeOrDie();
  ASSERT_TRUE(source->Start().ok());
  EXPECT_THAT(ToldOfPods(*source), ElementsAre(1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3));
}

TEST_F(LiveSourceTest, GoesOnFromItsSnapshot) {
  flags_.snapshot = folder_ / "samples";
  {
    const auto source = MakeOrDie();
    ASSERT_TRUE(source->Start().ok());
    EXPECT_EQ(Push(*source, "jobs_waiting 3\n"), 204);
  }
  EXPECT_THAT(Ask(*MakeOrDie(), "jobs_waiting"), ElementsAre(3));
}

// A pod that went while the server was restarted would count for as long as the lookback.
TEST_F(LiveSourceTest, SeriesOfASnapshotThatNobodyGoesOnWithEnd) {
  flags_.snapshot = folder_ / "samples";
  flags_.warmup = absl::Seconds(10);
  const std::string goes_on = "jobs_waiting{pod=\"a\"} 3\n", gone = "jobs_waiting{pod=\"b\"} 4\n";
  {
    const auto source = MakeOrDie();
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(Push(*source, goes_on + gone), 204);
      clock_.Advance(absl::Seconds(4));
    }
  }
  const auto source = MakeOrDie();
  ASSERT_TRUE(source->Start().ok());
  const absl::Time start = clock_.WallNow();
  const auto sum = [&] { return Ask(*source, "sum(jobs_waiting)"); };
  ASSERT_THAT(sum(), ElementsAre(7));
  for (uint64_t waits = 3; sum() == std::vector<double>{7}; ++waits) {
    clock_.AwaitWaits(waits);
    ASSERT_LT(clock_.WallNow(), start + absl::Seconds(20));
    EXPECT_EQ(Push(*source, goes_on), 204);
    clock_.Advance(absl::Seconds(1));
  }
  EXPECT_THAT(sum(), ElementsAre(3));
  EXPECT_GE(clock_.WallNow(), start + flags_.warmup);
}

TEST_F(LiveSourceTest, WhatADamagedSnapshotHasDoesNotPassForAll) {
  flags_.warmup = absl::Seconds(10);
  LeaveSnapshot("jobs_waiting 3\n", absl::Minutes(1), "jobs_waiting 4\n");
  EXPECT_FALSE(Refuses(*MakeOrDie(), "rate(jobs_waiting[1m])"));
  std::filesystem::resize_file(flags_.snapshot, std::filesystem::file_size(flags_.snapshot) - 1);
  const auto source = MakeOrDie();
  EXPECT_TRUE(Refuses(*source, "rate(jobs_waiting[1m])"));
  clock_.Advance(absl::Minutes(1));
  EXPECT_FALSE(Refuses(*source, "rate(jobs_waiting[1m])"));
}

// Of `greedy` the store keeps the last seconds; `modest` has few samples, all of which it keeps.
TEST_F(LiveSourceTest, ASnapshotDoesNotHaveWhatThereWasNoRoomFor) {
  flags_.snapshot = folder_ / "samples";
  flags_.warmup = absl::Seconds(10);
  flags_.max_bytes = 50'000;
  const std::string all = "rate(jobs_waiting[3m])", last = "rate(jobs_waiting[10s])";
  {
    const auto source = MakeOrDie();
    const int64_t begin_ms = absl::ToUnixMillis(clock_.WallNow());
    std::string page;
    for (int i = 1; i <= 20'000; ++i) {
      const std::string value = absl::StrFormat(" %.17g %d\n", i * i / 7.0, begin_ms + i * 10);
      absl::StrAppend(&page, "jobs_waiting{pod=\"greedy\"}", value);
      if (i % 1000 == 0) absl::StrAppend(&page, "jobs_waiting{pod=\"modest\"}", value);
    }
    clock_.Advance(absl::Seconds(200));
    ASSERT_EQ(Push(*source, page), 204);
    ASSERT_TRUE(Refuses(*source, all));
    ASSERT_FALSE(Refuses(*source, last));
  }
  flags_.max_bytes = 1 << 20;  // there is room for what is left
  const auto source = MakeOrDie();
  EXPECT_TRUE(Refuses(*source, all));
  EXPECT_FALSE(Refuses(*source, last));
}

TEST_F(LiveSourceTest, ASnapshotOfTheFutureCountsAsNone) {
  LeaveSnapshot("jobs_waiting 2\n", absl::Minutes(6), "jobs_waiting 3\n");
  clock_.JumpWall(clock_.WallNow() - absl::Minutes(5));
  const auto source = MakeOrDie();
  EXPECT_EQ(Push(*source, "jobs_waiting 4\n"), 204);
  EXPECT_THAT(Ask(*source, "jobs_waiting"), ElementsAre(4));
  EXPECT_TRUE(Refuses(*source, "rate(jobs_waiting[1m])"));
}

TEST_F(LiveSourceTest, IsUnknownUntilAWindowIsWhole) {
  flags_.warmup = absl::Seconds(10);
  flags_.snapshot = folder_ / "samples";
  {
    const auto source = MakeOrDie();
    ASSERT_TRUE(source->Start().ok());
    EXPECT_EQ(Push(*source, "jobs_waiting 3\n"), 204);
    EXPECT_TRUE(Refuses(*source, "jobs_waiting"));
    clock_.Advance(absl::Seconds(10));
    EXPECT_FALSE(Refuses(*source, "jobs_waiting"));
    EXPECT_TRUE(Refuses(*source, "rate(jobs_waiting[1m])"));
    clock_.Advance(absl::Seconds(50));
    EXPECT_FALSE(Refuses(*source, "rate(jobs_waiting[1m])"));
    EXPECT_TRUE(Refuses(*source, "rate(jobs_waiting[11m])")) << "longer than the retention";
    EXPECT_EQ(Push(*source, "jobs_waiting 4\n"), 204);
  }
  clock_.Advance(absl::Seconds(5));
  EXPECT_FALSE(Refuses(*MakeOrDie(), "rate(jobs_waiting[1m])")) << "it goes on";
  clock_.Advance(absl::Seconds(10));
  EXPECT_TRUE(Refuses(*MakeOrDie(), "jobs_waiting")) << "after a gap";
}

TEST_F(LiveSourceTest, AClockThatIsSetBeginsAnew) {
  const auto source = MakeOrDie();
  ASSERT_TRUE(source->Start().ok());
  uint64_t waits = 2;  // one is that of the thread which calls those who follow answers
  clock_.AwaitWaits(waits);
  for (const absl::Duration step : {-absl::Hours(1), absl::Hours(2), -absl::Seconds(30)}) {
    EXPECT_EQ(Push(*source, "jobs_waiting 3\n"), 204);
    clock_.Advance(absl::Minutes(1));
    clock_.AwaitWaits(++waits);
    EXPECT_FALSE(Refuses(*source, "rate(jobs_waiting[1m])"));
    clock_.JumpWall(clock_.WallNow() + step);
    clock_.Advance(absl::Seconds(1));
    clock_.AwaitWaits(++waits);
    EXPECT_TRUE(Refuses(*source, "rate(jobs_waiting[1m])")) << step;
    EXPECT_EQ(Push(*source, "jobs_waiting 4\n"), 204) << step;
    EXPECT_THAT(Ask(*source, "jobs_waiting"), ElementsAre(4)) << step;
    clock_.Advance(absl::Minutes(2));
    clock_.AwaitWaits(++waits);
  }
}

TEST_F(LiveSourceTest, WhatAReloadBeginsToKeepIsUnknownUntilAWindowIsWhole) {
  const auto source = MakeOrDie();
  EXPECT_EQ(Push(*source, "jobs_waiting 3\nmails_waiting 4\n"), 204);
  clock_.Advance(absl::Minutes(1));
  source->SetRules(*rules::CompileRules(absl::StrCat(kRules, kMoreRules), "rules.yaml").rules);
  EXPECT_EQ(Push(*source, "jobs_waiting 3\nmails_waiting 4\n"), 204);
  clock_.Advance(absl::Seconds(30));
  EXPECT_FALSE(Refuses(*source, "rate(jobs_waiting[1m])")) << "it was kept before";
  EXPECT_TRUE(Refuses(*source, "rate(mails_waiting[1m])"));
  clock_.Advance(absl::Seconds(30));
  EXPECT_FALSE(Refuses(*source, "rate(mails_waiting[1m])"));
  // Let go and taken up again it begins anew.
  source->SetRules(*rules::CompileRules(kRules, "rules.yaml").rules);
  source->SetRules(*rules::CompileRules(absl::StrCat(kRules, kMoreRules), "rules.yaml").rules);
  EXPECT_TRUE(Refuses(*source, "rate(mails_waiting[1m])"));
}

TEST_F(LiveSourceTest, ASnapshotOfOtherRulesKnowsNothingOfWhatTheyDidNotRead) {
  flags_.warmup = absl::Seconds(10);
  LeaveSnapshot("jobs_waiting 3\n", absl::Minutes(1), "jobs_waiting 3\n");
  const auto source = *Make();
  source->SetRules(*rules::CompileRules(absl::StrCat(kRules, kMoreRules), "rules.yaml").rules);
  const auto ask = [&](const std::string& query) {
    return source->source().Query(query, clock_.WallNow(), absl::Seconds(1)).status().code();
  };
  EXPECT_EQ(ask("rate(jobs_waiting[1m])"), absl::StatusCode::kOk);
  EXPECT_EQ(ask("mails_waiting"), absl::StatusCode::kUnavailable);
}

// A rule of the metrics whose names match.
std::string RulesOf(const std::string& names) {
  return absl::StrCat("externalRules:\n- {seriesQuery: '{__name__=~\"", names,
                      "\"}', resources: {namespaced: false}, metricsQuery: "
                      "'sum(<<.Series>>{<<.LabelMatchers>>})'}\n");
}

TEST_F(LiveSourceTest, ASnapshotKnowsNothingOfWhatAWiderSelectorAdds) {
  flags_.warmup = absl::Seconds(10);
  rules_ = RulesOf("^jobs_waiting$");
  LeaveSnapshot("jobs_waiting 3\n", absl::Minutes(1), "jobs_waiting 3\n");
  EXPECT_FALSE(Refuses(*MakeOrDie(), "rate(jobs_waiting[1m])"));
  rules_ = RulesOf("^(jobs|mails)_waiting$");
  EXPECT_TRUE(Refuses(*MakeOrDie(), "rate(mails_waiting[1m])"));
}

TEST_F(LiveSourceTest, ASnapshotOfSomeSeriesDoesNotPassForAll) {
  flags_.warmup = absl::Seconds(10);
  LeaveSnapshot("jobs_waiting 3\n", absl::Minutes(1), "jobs_waiting 3\n");
  // What the second rule reads is not known, so all is kept.
  rules_ = absl::StrCat(kRules,
                        "- {seriesQuery: mails_waiting, resources: {namespaced: false}, "
                        "metricsQuery: 'sum({<<.LabelMatchers>>})'}\n");
  const auto source = MakeOrDie();
  EXPECT_TRUE(Refuses(*source, "rate(mails_waiting[1m])"));
  EXPECT_FALSE(Refuses(*source, "rate(jobs_waiting[1m])"));
}

TEST_F(LiveSourceTest, ASnapshotKnowsSinceWhenAWiderSelectorWasKept) {
  flags_.warmup = absl::Seconds(10);
  flags_.snapshot = folder_ / "samples";
  rules_ = RulesOf("^jobs_waiting$");
  {
    const auto source = MakeOrDie();
    ASSERT_TRUE(source->Start().ok());
    EXPECT_EQ(Push(*source, "jobs_waiting 3\n"), 204);
    clock_.Advance(absl::Minutes(1));
    rules_ = RulesOf("^(jobs|mails)_waiting$");
    source->SetRules(*rules::CompileRules(rules_, "rules.yaml").rules);
    EXPECT_EQ(Push(*source, "jobs_waiting 3\nmails_waiting 4\n"), 204);
  }
  clock_.Advance(absl::Seconds(5));
  EXPECT_TRUE(Refuses(*MakeOrDie(), "rate(mails_waiting[1m])"));
}

TEST_F(LiveSourceTest, ADamagedSnapshotDoesNotKeepItFromStarting) {
  flags_.snapshot = Write("samples", "flyball samples 1\nand then something else");
  EXPECT_THAT(Ask(*MakeOrDie(), "jobs_waiting"), ElementsAre());
}

TEST_F(LiveSourceTest, ABadScrapeConfigurationIsRefusedWithItsPlace) {
  flags_.scrape_config =
      Write("scrape.yml", "scrape_configs:\n- job_name: a\n  scrape_intervall: 1s\n");
  const absl::Status refused = Make().status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(),
              AllOf(HasSubstr("--live-scrape-config"), HasSubstr("scrape.yml:3:3")));
}

TEST_F(LiveSourceTest, SeriesWithoutSamplesForTheRetentionAreDropped) {
  flags_.retention = absl::Minutes(1);
  const auto source = MakeOrDie();
  ASSERT_TRUE(source->Start().ok());
  clock_.AwaitWaits(2);
  EXPECT_EQ(Push(*source, "jobs_waiting 3\n"), 204);
  EXPECT_EQ(SeriesOf(*source), 1);
  for (int waits = 3; SeriesOf(*source) > 0; ++waits) {
    ASSERT_LT(clock_.WallNow(), absl::FromUnixSeconds(1700000000) + absl::Minutes(2));
    clock_.Advance(absl::Seconds(1));
    clock_.AwaitWaits(waits);
  }
}

TEST_F(LiveSourceTest, ADiskThatHangsKeepsNoSeriesFromBeingDropped) {
  flags_.retention = absl::Minutes(1);
  flags_.snapshot = folder_ / "samples";
  const std::string written = flags_.snapshot + ".new";
  ASSERT_EQ(mkfifo(written.c_str(), 0600), 0);  // whoever writes to it waits for a reader
  const auto source = MakeOrDie();
  ASSERT_TRUE(source->Start().ok());
  clock_.AwaitWaits(3);
  EXPECT_EQ(Push(*source, "jobs_waiting 3\n"), 204);
  clock_.Advance(absl::Minutes(1));
  for (int waits = 4; SeriesOf(*source) > 0; ++waits) {
    clock_.AwaitWaits(waits);
    clock_.Advance(absl::Seconds(1));
  }
  const int reader = open(written.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  source->Stop();
  close(reader);
}

TEST_F(LiveSourceTest, WithoutThreadsNothingEndsAndTheCauseIsTold) {
  flags_.scrape_config = Write("scrape.yml", R"(
scrape_configs:
- job_name: a
  file_sd_configs: [{files: [targets.yml]}]
)");
  int left = 0;
  for (absl::Status status = absl::UnknownError(""); !status.ok(); ++left) {
    ASSERT_LT(left, 100);
    const auto source = MakeOrDie();
    const ThreadLimit limit(left);
    status = UnlessNoThread([&source] { return source->Start(); });
    EXPECT_TRUE(status.ok() || absl::IsResourceExhausted(status)) << status;
  }
  EXPECT_GT(left, 3);
}

TEST_F(LiveSourceTest, WithoutThreadsAChangedScrapeConfigurationIsRefused) {
  flags_.scrape_config = Write("scrape.yml", "scrape_configs: []\n");
  const auto source = MakeOrDie();
  ASSERT_TRUE(source->Start().ok());
  {
    const ThreadLimit none;
    Write("scrape.yml", "scrape_configs: [{job_name: a}]\n");
    source->ReloadScrapeConfig();
    EXPECT_EQ(source->LastScrapeReload().code(), absl::StatusCode::kResourceExhausted);
  }
  source->ReloadScrapeConfig();
  EXPECT_TRUE(source->LastScrapeReload().ok());
}

TEST_F(LiveSourceTest, TheWarmupBeginsWhenAllTargetsHaveBeenDiscovered) {
  flags_.warmup = absl::Seconds(10);
  flags_.scrape_config = Write(
      "scrape.yml", absl::StrCat("scrape_configs:\n- job_name: a\n  file_sd_configs: [{files: ['",
                                 Write("targets.json", "[{"), "']}]\n",
                                 "  static_configs: [{targets: ['127.0.0.1:1']}]\n"));
  const auto source = MakeOrDie();
  ASSERT_TRUE(source->Start().ok());
  while (TargetsOf(*source) == 0) std::this_thread::yield();
  // Its thread looks again a second after it has looked last, whenever that was.
  const auto await_refusal = [&] {
    while (!Refuses(*source, "jobs_waiting")) {
      clock_.Advance(absl::Milliseconds(1));
      std::this_thread::yield();
    }
  };
  clock_.Advance(absl::Seconds(12));
  await_refusal();
  clock_.JumpWall(clock_.WallNow() - absl::Minutes(1));
  clock_.Advance(absl::Seconds(12));
  await_refusal();
  const absl::Time read = clock_.WallNow();
  Write("targets.json", "[]");
  while (Refuses(*source, "jobs_waiting")) {
    clock_.Advance(absl::Milliseconds(500));
    std::this_thread::yield();
  }
  EXPECT_GE(clock_.WallNow(), read + absl::Seconds(10));
}

TEST_F(LiveSourceTest, SaysThatThereIsNoClusterToAsk) {
  flags_.scrape_annotated = absl::Seconds(1);
  EXPECT_EQ(MakeOrDie()->Start().message(), "none");
}

TEST_F(LiveSourceTest, WithoutPushOnlyQueriesAreTaken) {
  const auto has = [](LiveSource& source, const std::string& path) {
    const auto pages = source.pages();
    return std::any_of(pages.begin(), pages.end(), [&](auto* page) { return page->Has(path); });
  };
  const auto pushed = MakeOrDie();
  EXPECT_TRUE(has(*pushed, "/v1/metrics"));
  EXPECT_TRUE(has(*pushed, "/api/v1/write"));
  flags_.push = false;
  const auto source = MakeOrDie();
  EXPECT_FALSE(has(*source, "/v1/metrics"));
  EXPECT_FALSE(has(*source, "/api/v1/write"));
  EXPECT_TRUE(has(*source, "/api/v1/query"));
}

TEST_F(LiveSourceTest, BoundsAreCanonicalAsTheDialectHasThem) {
  flags_.keep = {"d_bucket"};
  const auto buckets_with = [this](const std::string& dialect, const std::string& bound) {
    flags_.dialect = dialect;
    const auto source = MakeOrDie();
    EXPECT_EQ(Push(*source, "# TYPE d histogram\nd_bucket{le=\"1\"} 5\n"), 204);
    return Ask(*source, "d_bucket{le=\"" + bound + "\"}").size();
  };
  EXPECT_EQ(buckets_with("3", "1.0"), 1u);
  EXPECT_EQ(buckets_with("2", "1.0"), 0u);
  EXPECT_EQ(buckets_with("2", "1"), 1u);
}

TEST_F(LiveSourceTest, TellsWhatPagesSayOfMetrics) {
  const auto source = MakeOrDie();
  EXPECT_EQ(Push(*source, "# HELP jobs_waiting Jobs.\n# TYPE jobs_waiting gauge\njobs_waiting 3\n"),
            204);
  http::HttpRequest request;
  request.method = "GET";
  request.target = "/api/v1/metadata";
  EXPECT_THAT(*source->pages().at(0)->Answer(request).body,
              HasSubstr(R"("jobs_waiting":[{"type":"gauge","help":"Jobs.","unit":""}])"));
}

TEST(LiveFamilies, CountsTargetsByHealth) {
  scrape::TargetState up, down, unknown;
  up.job = down.job = unknown.job = "pods";
  up.last_scrape = down.last_scrape = absl::FromUnixSeconds(1);
  down.last.status = absl::UnavailableError("refused");
  const live::Ingest::Totals pushed;
  const auto families = LiveFamilies({.series = 7}, pushed, {.scrapes = 3, .failed = 1},
                                     {up, up, down, unknown}, true);
  EXPECT_EQ(families.front().metric.at(0).gauge.value, 7);
  std::vector<std::string> targets;
  for (const auto& metric : families.back().metric) {
    targets.push_back(absl::StrCat(metric.label.at(1).value, " ", metric.gauge.value));
  }
  EXPECT_THAT(targets, ElementsAre("down 1", "unknown 1", "up 2"));
}

}  // namespace
}  // namespace flyball::serve
