#include "adapter/live/scrape/target_samples.h"

#include <malloc.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_replace.h"
#include "adapter/live/formats/text.h"
#include "adapter/live/scrape/testing/job_of.h"
#include "adapter/live/scrape/testing/recorded_store.h"

namespace flyball::scrape {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class TargetSamplesTest : public testing::Test {
 protected:
  void Start(const std::string& job, promql::LabelSet labels = {{"job", "web"}},
             TargetBudgets budgets = {}) {
    samples_.emplace(std::make_shared<const Job>(JobOf(job)), std::move(labels), store_,
                     std::move(budgets));
  }
  ScrapeResult Take(const std::string& page, int64_t at_ms) {
    return samples_->TakePage(
        [&page](formats::ScrapeSink& sink) { return formats::ParseText(page, sink); }, at_ms,
        at_ms);
  }

  RecordedStore store_;
  std::optional<TargetSamples> samples_;
};

TEST_F(TargetSamplesTest, ASeriesThatIsMissingGetsAMarker) {
  Start("");
  EXPECT_EQ(Take("a 1\nb 2\n", 1000).added, 2u);
  const ScrapeResult second = Take("b 3\n", 2000);
  EXPECT_EQ(second.added, 0u);
  EXPECT_EQ(second.scraped, 1u);
  EXPECT_EQ(store_.Of("a{job=web}"), "1000:1 2000:stale");
  EXPECT_EQ(store_.Of("b{job=web}"), "1000:2 2000:3");
  EXPECT_EQ(Take("a 4\nb 4\n", 3000).added, 1u);
  EXPECT_EQ(store_.Of("a{job=web}"), "1000:1 2000:stale 3000:4");
}

TEST_F(TargetSamplesTest, ASteadyPageOpensNothing) {
  Start("");
  Take("a 1\nb 2\n", 1000);
  const int opens = store_.opens();
  Take("b 1\na 2\n", 2000);
  Take("b 1\na 2\n", 3000);
  EXPECT_EQ(store_.opens(), opens);
}

TEST_F(TargetSamplesTest, ABadPageCountsAsNoneAndEndsAllSeries) {
  Start("");
  Take("a 1\n", 1000);
  const ScrapeResult bad = Take("a 2\nb 1\nb{ 1\n", 2000);
  EXPECT_EQ(bad.status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(store_.Of("a{job=web}"), "1000:1 2000:stale");
  EXPECT_EQ(store_.Of("b{job=web}"), "");
  samples_->TakeFailure(3000, 3000);  // there is one marker only
  Take("a 5\n", 4000);
  EXPECT_EQ(store_.Of("a{job=web}"), "1000:1 2000:stale 4000:5");
}

TEST_F(TargetSamplesTest, OfTwoSamplesOfASeriesTheFirstWins) {
  Start("");
  const ScrapeResult result = Take("b 1\nb 2\n", 1000);
  EXPECT_EQ(result.duplicates, 1u);
  EXPECT_EQ(result.kept, 2u);
  EXPECT_EQ(store_.Of("b{job=web}"), "1000:1");
}

TEST_F(TargetSamplesTest, StampsOfThePageAreHonoredAndGetNoMarkers) {
  Start("");
  Take("a 1 500\nb 1\n", 1000);
  Take("b 2\n", 2000);
  EXPECT_EQ(store_.Of("a{job=web}"), "500:1");
  EXPECT_EQ(store_.Of("b{job=web}"), "1000:1 2000:2");
}

TEST_F(TargetSamplesTest, StampsOfThePageAreTrackedIfAskedFor) {
  Start("  track_timestamps_staleness: true\n");
  Take("a 1 500\n", 1000);
  Take("", 2000);
  EXPECT_EQ(store_.Of("a{job=web}"), "500:1 2000:stale");
}

TEST_F(TargetSamplesTest, StampsOfThePageCountForNothingIfNotHonored) {
  Start("  honor_timestamps: false\n");
  Take("a 1 500\n", 1000);
  EXPECT_EQ(store_.Of("a{job=web}"), "1000:1");
}

TEST_F(TargetSamplesTest, LabelsOfThePageGiveWayToTheTargets) {
  Start("", {{"instance", "i"}, {"job", "web"}});
  Take("a{job=\"mine\",exported_job=\"old\"} 1\n", 1000);
  EXPECT_THAT(store_.Names(),
              ElementsAre("a{exported_exported_job=mine,exported_job=old,instance=i,job=web}"));
}

TEST_F(TargetSamplesTest, LabelsOfThePageStayIfHonored) {
  Start("  honor_labels: true\n", {{"instance", "i"}, {"job", "web"}});
  Take("a{job=\"mine\"} 1\n", 1000);
  EXPECT_THAT(store_.Names(), ElementsAre("a{instance=i,job=mine}"));
}

// As /federate and Pushgateways write `instance=""`.
TEST_F(TargetSamplesTest, AnEmptyLabelOfThePageKeepsTheTargetsAwayWhereLabelsAreHonored) {
  const std::string page = "a{instance=\"\",job=\"mine\"} 1\n";
  Start("  honor_labels: true\n", {{"instance", "i"}, {"job", "web"}});
  Take(page, 1000);
  EXPECT_THAT(store_.Names(), ElementsAre("a{job=mine}"));
  Start("", {{"instance", "i"}, {"job", "web"}});
  Take(page, 2000);
  EXPECT_THAT(store_.Names(),
              ElementsAre("a{exported_job=mine,instance=i,job=web}", "a{job=mine}"));
}

TEST_F(TargetSamplesTest, BoundsAreCanonicalOrAsThePageHasThem) {
  Job job = JobOf("");
  const std::string page = "# TYPE d histogram\nd_bucket{le=\"1\"} 5\n";
  for (const bool canonical : {true, false}) {
    job.canonical_bounds = canonical;
    samples_.emplace(std::make_shared<const Job>(job), promql::LabelSet(), store_, TargetBudgets());
    Take(page, 1000);
  }
  EXPECT_THAT(store_.Names(), ElementsAre("d_bucket{le=1.0}", "d_bucket{le=1}"));
}

TEST_F(TargetSamplesTest, RulesDropAndRewriteSamples) {
  Start(
      "  metric_relabel_configs:\n"
      "  - {action: drop, source_labels: [__name__], regex: go_.*}\n"
      "  - {action: labeldrop, regex: pod}\n");
  const ScrapeResult first = Take("go_x 1\na{pod=\"p\"} 1\n", 1000);
  EXPECT_EQ(first.scraped, 2u);
  EXPECT_EQ(first.kept, 1u);
  EXPECT_EQ(first.added, 1u);
  EXPECT_THAT(store_.Names(), ElementsAre("a{job=web}"));
}

TEST_F(TargetSamplesTest, LimitsFailTheWholeScrape) {
  const std::pair<std::string, std::string> cases[] = {
      {"  sample_limit: 1\n", "a 1\nb 1\n"},
      {"  label_limit: 2\n", "c 1\na{x=\"1\"} 1\n"},
      {"  label_name_length_limit: 8\n", "c 1\na{long_name=\"1\"} 1\n"},
      {"  label_value_length_limit: 3\n", "c 1\na{x=\"1234\"} 1\n"},
      {"  metric_relabel_configs: [{action: labeldrop, regex: __name__}]\n", "a 1\n"},
  };
  for (const auto& [job, page] : cases) {
    Start(job);
    EXPECT_FALSE(Take(page, 1000).status.ok()) << job;
    EXPECT_THAT(store_.Names(), IsEmpty()) << job;
  }
}

// A page of so many series.
std::string PageOf(int series) {
  std::string page;
  for (int i = 0; i < series; ++i) absl::StrAppend(&page, "a{b=\"", i, "\"} 1\n");
  return page;
}

TEST_F(TargetSamplesTest, WhatIsBeyondTheSampleLimitTakesNoMemory) {
  const auto budget = std::make_shared<ByteBudget>(100 << 20);
  TargetSamples samples(std::make_shared<const Job>(JobOf("  sample_limit: 10\n")),
                        {{"job", "web"}}, store_, {.series = budget, .samples = budget});
  const std::string page = PageOf(2000);
  const ScrapeResult result = samples.TakePage(
      [&](formats::ScrapeSink& sink) {
        const absl::Status status = formats::ParseText(page, sink);
        EXPECT_EQ(budget->taken(), 0u);
        return status;
      },
      1000, 1000);
  EXPECT_EQ(result.status.message(), "sample_limit is 10, the page has 2000 samples");
  EXPECT_EQ(result.scraped, 2000u);
}

TEST_F(TargetSamplesTest, OfWhatIsBeyondTheSampleLimitTheRulesAreAskedStill) {
  Start(
      "  sample_limit: 1\n"
      "  metric_relabel_configs: [{action: drop, source_labels: [__name__], regex: go_.*}]\n");
  EXPECT_EQ(Take("a 1\nb 1\ngo_x 1\nc 1\n", 1000).kept, 3u);
}

TEST_F(TargetSamplesTest, APageWhoseNamesDoNotFitFailsAsAWhole) {
  const auto budget = std::make_shared<ByteBudget>(512 << 10);
  const auto of_samples = std::make_shared<ByteBudget>(512 << 10);
  Start("", {{"job", "web"}}, {.series = budget, .samples = of_samples});
  store_.LimitSeries(100'000);
  EXPECT_TRUE(Take(PageOf(500), 1000).status.ok());
  const ScrapeResult more = Take(PageOf(3000), 2000);
  EXPECT_EQ(more.status.message(), "no memory for the names of the page's series");
  EXPECT_EQ(more.scraped, 3000u);
  EXPECT_EQ(store_.Of("a{b=499,job=web}"), "1000:1 2000:stale");
  EXPECT_EQ(store_.Names().size(), 500u);
  EXPECT_TRUE(Take(PageOf(500), 3000).status.ok());
  EXPECT_EQ(store_.Of("a{b=499,job=web}"), "1000:1 2000:stale 3000:1");
  std::string long_page;
  for (int i = 0; i < 20'000; ++i) absl::StrAppend(&long_page, "a 1\n");
  EXPECT_TRUE(absl::IsResourceExhausted(Take(long_page, 4000).status));
  EXPECT_EQ(of_samples->taken(), 0u);
  samples_.reset();
  EXPECT_EQ(budget->taken(), 0u);
}

// Each has less than what is not counted of other jobs' targets.
TEST_F(TargetSamplesTest, ManySmallTargetsOfPodsTakeNoMoreThanTheirBudget) {
  Job job = JobOf("");
  job.asked_for_by_pods = true;
  const auto of_pods = std::make_shared<const Job>(std::move(job));
  const auto budget = std::make_shared<ByteBudget>(512 << 10);
  store_.LimitSeries(100'000);
  std::vector<std::unique_ptr<TargetSamples>> targets;
  int taken = 0;
  for (int i = 0; i < 30; ++i) {
    targets.push_back(std::make_unique<TargetSamples>(
        of_pods, promql::LabelSet{{"instance", absl::StrCat(i)}}, store_,
        TargetBudgets{.series = budget, .samples = nullptr}));
    const auto parse = [](formats::ScrapeSink& sink) {
      return formats::ParseText(PageOf(200), sink);
    };
    taken += targets.back()->TakePage(parse, 1000, 1000).status.ok();
  }
  EXPECT_GT(taken, 8);
  EXPECT_LT(taken, 14);
}

TEST_F(TargetSamplesTest, NamesThatAreGoneMakeRoomForNewOnes) {
  const auto budget = std::make_shared<ByteBudget>(256 << 10);
  Start("", {{"job", "web"}}, {.series = budget, .samples = nullptr});
  store_.LimitSeries(100'000);
  const std::string before = PageOf(1000);
  const std::string after = absl::StrReplaceAll(before, {{"a{", "c{"}});
  EXPECT_TRUE(Take(before, 1000).status.ok());
  EXPECT_FALSE(Take(after, 2000).status.ok());
  EXPECT_TRUE(Take(after, 3000).status.ok());
  // Those that the page still has are not forgotten, also where they come after the new ones.
  const std::string more = absl::StrReplaceAll(before, {{"a{", "d{"}});
  EXPECT_FALSE(Take(more + after, 4000).status.ok());
  EXPECT_EQ(Take(after, 5000).added, 0u);
}

TEST_F(TargetSamplesTest, ASeriesThatTakesAMegabyteFailsTheScrape) {
  Start("");
  EXPECT_TRUE(absl::IsResourceExhausted(
      Take(absl::StrCat("a{b=\"", std::string(1 << 20, 'x'), "\"} 1\n"), 1000).status));
}

// Of a page with one series: so many labels, each with a value of that text.
std::string PageOfLabels(int labels, const std::string& value) {
  std::string page = "a{";
  for (int i = 0; i < labels; ++i) absl::StrAppend(&page, "l", i, "=\"", value, "\",");
  return page + "} 1\n";
}

size_t HeapBytes() {
  const struct mallinfo2 now = mallinfo2();
  return now.uordblks + now.hblkhd;
}

// One pod has 32 targets, and each lasts as long as the pod.
TEST_F(TargetSamplesTest, WhatNoSeriesMayHaveLeavesNothingBehind) {
  const auto of_pods = std::make_shared<const Job>(AnnotatedPods(absl::Seconds(1)));
  const std::pair<std::string, std::string> cases[] = {
      {PageOfLabels(45'000, "x"), "label_limit is over its limit of 64: a series of \"a\""},
      {PageOfLabels(1, std::string(500'000, 'x')),
       "label_value_length_limit is over its limit of 4096: a series of \"a\""},
      {absl::StrReplaceAll(PageOfLabels(1, "x"), {{"l0", std::string(500'000, 'l')}}),
       "label_name_length_limit is over its limit of 256: a series of \"a\""},
      {PageOfLabels(1, std::string(900'000, '\\')),
       "the name and labels of a series take more than 557568 bytes"},
  };
  for (const auto& [page, error] : cases) {
    std::vector<std::unique_ptr<TargetSamples>> targets;
    size_t before = 0;
    for (int i = 0; i < 33; ++i) {
      if (i == 1) before = HeapBytes();
      targets.push_back(std::make_unique<TargetSamples>(
          of_pods, promql::LabelSet{{"instance", absl::StrCat(i)}}, store_));
      const auto parse = [&page = page](formats::ScrapeSink& sink) {
        return formats::ParseText(page, sink);
      };
      EXPECT_EQ(targets.back()->TakePage(parse, 1000, 1000).status.message(), error);
    }
    EXPECT_LT(HeapBytes(), before + 100'000) << page.substr(0, 20);
  }
}

TEST_F(TargetSamplesTest, LargePagesLeaveNothingBehind) {
  const auto of_pods = std::make_shared<const Job>(AnnotatedPods(absl::Seconds(1)));
  std::string repeated;
  for (int i = 0; i < 50'000; ++i) repeated += "a 1\n";
  const std::pair<std::string, std::vector<std::string>> cases[] = {
      {"one series again and again", {repeated}},
      {"the same, and it fails", {repeated + "a{"}},
      {"more series than the store takes", {PageOf(50'000)}},
      {"many series, then few", {PageOf(900), repeated, PageOf(1)}},
  };
  for (const auto& [what, pages] : cases) {
    std::vector<std::unique_ptr<TargetSamples>> targets;
    size_t before = 0;
    for (int i = 0; i < 9; ++i) {
      if (i == 1) before = HeapBytes();
      store_.DropAll();
      targets.push_back(
          std::make_unique<TargetSamples>(of_pods, promql::LabelSet{{"job", "web"}}, store_));
      for (const std::string& page : pages) {
        const auto parse = [&](formats::ScrapeSink& sink) {
          return formats::ParseText(page, sink);
        };
        targets.back()->TakePage(parse, 1000, 1000);
      }
    }
    EXPECT_LT(HeapBytes(), before + 100'000) << what;
  }
}

// Without a limit on labels the store is asked, which refuses only series that are kept.
TEST_F(TargetSamplesTest, RulesMayDropLabelsBeyondTheLimits) {
  Start(
      "  label_limit: 3\n  label_value_length_limit: 4\n"
      "  metric_relabel_configs: [{action: labeldrop, regex: l.*}]\n");
  EXPECT_TRUE(Take(PageOfLabels(1000, "long value"), 1000).status.ok());
  EXPECT_EQ(Take(PageOfLabels(1024, "x"), 2000).status.message(),
            "a series has more than 1024 labels");
  Start("");
  EXPECT_TRUE(Take(PageOfLabels(1000, "x"), 1000).status.ok());
}

TEST_F(TargetSamplesTest, AsManyLabelsAsTheLimitsAllowAreTaken) {
  TargetSamples samples(std::make_shared<const Job>(AnnotatedPods(absl::Seconds(1))),
                        {{"job", "web"}}, store_);
  std::string value;
  for (size_t i = 0; i < formats::kMaxLabelValueBytes; ++i) value += "\\\\";
  const auto take = [&](int labels) {
    const std::string page = PageOfLabels(labels, value);
    const auto parse = [&](formats::ScrapeSink& sink) { return formats::ParseText(page, sink); };
    return samples.TakePage(parse, 1000, 1000).status;
  };
  EXPECT_TRUE(take(62).ok()) << "with job and __name__";
  EXPECT_EQ(take(63).message(), "label_limit is over its limit of 64: a series of \"a\"");
}

TEST_F(TargetSamplesTest, APageWithASeriesThatTheStoreRefusesFailsAsAWhole) {
  Start("");
  store_.LimitSeries(2);
  EXPECT_TRUE(Take("a 1\n", 1000).status.ok());
  const ScrapeResult refused = Take("a 2\nb 2\nc 2\n", 2000);
  EXPECT_EQ(refused.status.message(), "full");
  EXPECT_EQ(refused.no_room, 3u);
  EXPECT_EQ(refused.added, 0u);
  EXPECT_EQ(store_.Of("a{job=web}"), "1000:1 2001:stale");
  EXPECT_EQ(store_.Of("b{job=web}"), "");
  EXPECT_FALSE(Take("a 3\nb 3\n", 3000).status.ok());
  EXPECT_EQ(store_.opens(), 3) << "it was not asked again";
  EXPECT_TRUE(Take("a 4\n", 4000).status.ok()) << "known series need no room";
  store_.LimitSeries(3);
  EXPECT_EQ(Take("a 5\nb 5\nc 5\n", 60'000).added, 2u);
  EXPECT_EQ(store_.Of("a{job=web}"), "1000:1 2001:stale 4000:4 60000:5");
  EXPECT_EQ(store_.Of("c{job=web}"), "60000:5");
}

TEST_F(TargetSamplesTest, ThatTheStoreHasDroppedASeriesAndRefusesItIsSeenAtOnce) {
  Start("");
  Take("a 1\nb 1\n", 1000);
  store_.DropAll();
  store_.LimitSeries(1);
  EXPECT_EQ(Take("a 2\nb 2\n", 2000).no_room, 2u);
  EXPECT_EQ(store_.Of("a{job=web}"), "2000:2 2001:stale");
  EXPECT_FALSE(Take("a 3\nb 3\n", 3000).status.ok());
  EXPECT_EQ(store_.Of("a{job=web}"), "2000:2 2001:stale");
}

TEST_F(TargetSamplesTest, SeriesThatTheStoreHasDroppedAreOpenedAgain) {
  Start("");
  Take("a 1\n", 1000);
  samples_->Report({}, absl::Seconds(1), 1000, 1000);
  store_.DropAll();
  Take("a 2\n", 2000);
  samples_->Report({}, absl::Seconds(1), 2000, 2000);
  EXPECT_EQ(store_.Of("a{job=web}"), "2000:2");
  EXPECT_EQ(store_.Of("up{job=web}"), "2000:1");
}

TEST_F(TargetSamplesTest, ReportsAndTheEndOfATarget) {
  Start("  extra_scrape_metrics: true\n  sample_limit: 7\n");
  ScrapeResult result = Take("a 1\n", 1000);
  result.duration = absl::Milliseconds(250);
  result.body_bytes = 4;
  samples_->Report(result, absl::Seconds(10), 1000, 1000);
  samples_->End(2000, 2100);
  EXPECT_EQ(store_.Of("a{job=web}"), "1000:1 2000:stale");
  EXPECT_EQ(store_.Of("up{job=web}"), "1000:1 2000:stale");
  EXPECT_EQ(store_.Of("scrape_duration_seconds{job=web}"), "1000:0.25 2000:stale");
  EXPECT_EQ(store_.Of("scrape_samples_scraped{job=web}"), "1000:1 2000:stale");
  EXPECT_EQ(store_.Of("scrape_samples_post_metric_relabeling{job=web}"), "1000:1 2000:stale");
  EXPECT_EQ(store_.Of("scrape_series_added{job=web}"), "1000:1 2000:stale");
  EXPECT_EQ(store_.Of("scrape_timeout_seconds{job=web}"), "1000:10 2000:stale");
  EXPECT_EQ(store_.Of("scrape_sample_limit{job=web}"), "1000:7 2000:stale");
  EXPECT_EQ(store_.Of("scrape_body_size_bytes{job=web}"), "1000:4 2000:stale");
}

}  // namespace
}  // namespace flyball::scrape
