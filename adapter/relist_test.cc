#include "adapter/relist.h"

#include <set>

#include "adapter/queries/choosing_source.h"
#include "adapter/testing/floor.h"
#include "base/test_log.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::adapter {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// One rule and one external rule for each selector given.
std::string Rules(const std::vector<std::string>& custom,
                  const std::vector<std::string>& external = {}) {
  std::string text = "rules:\n";
  for (const std::string& selector : custom) {
    absl::StrAppend(&text, "- {seriesQuery: ", selector,
                    ", resources: {overrides: {ns: {resource: namespace}, po: {resource: pod}, "
                    "truck: {group: cars.example, resource: truck}}}, "
                    "metricsQuery: 'sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)'}\n");
  }
  text += "externalRules:\n";
  for (const std::string& selector : external) {
    absl::StrAppend(&text, "- {seriesQuery: ", selector,
                    ", metricsQuery: 'sum(<<.Series>>{<<.LabelMatchers>>})'}\n");
  }
  return text;
}

class RelisterTest : public testing::Test {
 protected:
  RelisterTest() {
    floor_.source.OnSeries(
        [this](const std::string& selector) -> absl::StatusOr<std::vector<SeriesName>> {
          if (failing_.contains(selector)) return absl::UnavailableError("down");
          return std::vector<SeriesName>{{selector, {"ns", "po", "truck"}}};
        });
  }

  // Names that the custom API lists for pods.
  std::vector<std::string> PodMetricNames() {
    std::vector<std::string> names;
    for (const CustomMetricInfo& info : *relister().registry()->custom_list()) {
      if (info.resource.resource == "pods") names.push_back(info.metric);
    }
    return names;
  }
  Relister& relister() { return floor_.relister(); }
  void Advance(absl::Duration by) {
    floor_.clock.Advance(by);
    relister().Step();
  }

  std::set<std::string> failing_;
  TestFloor floor_{{.relist = {.interval = absl::Minutes(1), .max_age = absl::Minutes(5)}}};
};

TEST_F(RelisterTest, EqualSeriesQueriesAreSentOnceForBothLists) {
  floor_.Load(CompileOrDie(Rules({"a", "a", "b"}, {"b", "c"})));
  EXPECT_THAT(floor_.source.selectors(), UnorderedElementsAre("a", "b", "c"));
  EXPECT_EQ(floor_.source.starts()[0], floor_.clock.WallNow() - absl::Minutes(5));
  EXPECT_TRUE(relister().first_round_done());
  EXPECT_THAT(PodMetricNames(), ElementsAre("a", "b"));
  EXPECT_THAT(*relister().registry()->external_list(), ElementsAre("b", "c"));
}

TEST_F(RelisterTest, StatusesNameWhatEachRuleOffers) {
  floor_.Load(CompileOrDie(Rules({"a", "b", "a"}, {"c"})));
  EXPECT_THAT(relister().Statuses()[0].metrics, IsEmpty()) << "not asked for";
  const std::vector<RuleStatus> statuses = relister().Statuses(/*with_metrics=*/true);
  ASSERT_EQ(statuses.size(), 4u);
  EXPECT_THAT(statuses[0].metrics, IsEmpty()) << "the later rule has the names";
  EXPECT_THAT(statuses[1].metrics, UnorderedElementsAre("namespaces/b", "pods/b"));
  EXPECT_THAT(statuses[2].metrics, UnorderedElementsAre("namespaces/a", "pods/a"));
  EXPECT_THAT(statuses[3].metrics, ElementsAre("c"));
}

TEST_F(RelisterTest, ARuleThatFindsNothingIsLoggedOnce) {
  const TestLog log;
  floor_.source.OnSeries([](const std::string& selector) {
    return selector == "a" ? std::vector<SeriesName>{{"a", {"ns"}}} : std::vector<SeriesName>{};
  });
  floor_.Load(CompileOrDie(Rules({"a", "b"})));
  Advance(absl::Minutes(1));
  Advance(absl::Minutes(1));
  EXPECT_THAT(log.text(), testing::HasSubstr("rules[1] (test.yaml:3) finds no series: b"));
  EXPECT_THAT(log.text(), testing::HasSubstr("2 rules found 1 series"));
  EXPECT_EQ(log.Count("finds no series"), 1u);
}

TEST_F(RelisterTest, AskedAgainAfterTheIntervalAndNotBefore) {
  floor_.Load(CompileOrDie(Rules({"a"})));
  Advance(absl::Seconds(59));
  EXPECT_EQ(floor_.source.selectors().size(), 1u);
  Advance(absl::Seconds(1));
  EXPECT_EQ(floor_.source.selectors().size(), 2u);
}

TEST_F(RelisterTest, AskedAtOnceWhereTheSourceHasNewSeries) {
  floor_.Load(CompileOrDie(Rules({"a", "b"})));
  relister().AskNow();
  relister().Step();
  EXPECT_EQ(floor_.source.selectors().size(), 4u);
  Advance(absl::Seconds(59));
  EXPECT_EQ(floor_.source.selectors().size(), 4u);
}

TEST_F(RelisterTest, OneFailingRuleKeepsItsSeriesAndLeavesTheOthersFresh) {
  floor_.Load(CompileOrDie(Rules({"a", "b"})));
  failing_ = {"a"};
  const uint64_t before = relister().generation();
  floor_.source.OnSeries(
      [](const std::string& selector) -> absl::StatusOr<std::vector<SeriesName>> {
        if (selector == "a") return absl::UnavailableError("down");
        return std::vector<SeriesName>{{"b_new", {"ns", "po"}}};
      });
  Advance(absl::Minutes(1));
  EXPECT_THAT(PodMetricNames(), ElementsAre("a", "b_new"));
  EXPECT_GT(relister().generation(), before);
  const std::vector<RuleStatus> statuses = relister().Statuses();
  ASSERT_EQ(statuses.size(), 2u);
  EXPECT_EQ(statuses[0].error, "down");
  EXPECT_EQ(statuses[0].failures, 1);
  EXPECT_EQ(statuses[0].series, 1u);
  EXPECT_EQ(statuses[0].last_success, floor_.clock.WallNow() - absl::Minutes(1));
  EXPECT_EQ(statuses[1].error, "");
  EXPECT_EQ(statuses[1].last_success, floor_.clock.WallNow());
  EXPECT_EQ(statuses[1].where, "test.yaml:3");
}

TEST_F(RelisterTest, BeforeItsFirstSuccessARuleIsRetriedSoonerAndSooner) {
  failing_ = {"a"};
  floor_.Load(CompileOrDie(Rules({"a"})));
  EXPECT_TRUE(relister().first_round_done());  // failed, but ended
  EXPECT_THAT(PodMetricNames(), IsEmpty());
  std::vector<int> seconds_of_queries;
  for (int second = 1; second <= 20; ++second) {
    const size_t before = floor_.source.selectors().size();
    Advance(absl::Seconds(1));
    if (floor_.source.selectors().size() > before) seconds_of_queries.push_back(second);
  }
  // 1, 1 + 2, 1 + 2 + 4, 1 + 2 + 4 + 8.
  EXPECT_THAT(seconds_of_queries, ElementsAre(1, 3, 7, 15));
  failing_ = {};
  Advance(absl::Seconds(16));
  EXPECT_THAT(PodMetricNames(), ElementsAre("a"));
  EXPECT_EQ(relister().Statuses()[0].failures, 0);
}

TEST_F(RelisterTest, AnEmptyListIsSuccess) {
  floor_.Load(CompileOrDie(Rules({"a"})));
  floor_.source.OnSeries([](const std::string&) { return std::vector<SeriesName>(); });
  Advance(absl::Minutes(1));
  EXPECT_THAT(PodMetricNames(), IsEmpty());
  EXPECT_EQ(relister().Statuses()[0].error, "");
}

TEST_F(RelisterTest, NothingNewLeavesTheGenerationAlone) {
  floor_.Load(CompileOrDie(Rules({"a"}, {"b"})));
  const auto registry = relister().registry();
  const uint64_t generation = relister().generation();
  Advance(absl::Minutes(1));
  EXPECT_EQ(floor_.source.selectors().size(), 4u);
  EXPECT_EQ(relister().registry(), registry);
  EXPECT_EQ(relister().generation(), generation);
}

TEST_F(RelisterTest, ReloadKeepsWhatEqualSeriesQueriesHadFound) {
  floor_.Load(CompileOrDie(Rules({"a", "b"})));
  failing_ = {"a", "c"};
  relister().SetRules(CompileOrDie(Rules({"c", "a"})));
  // Before anything is asked: a is there by what was known, b is gone.
  EXPECT_EQ(floor_.source.selectors().size(), 2u);
  EXPECT_THAT(PodMetricNames(), ElementsAre("a"));
  relister().Step();
  EXPECT_EQ(floor_.source.selectors().back(), "c");
  EXPECT_THAT(PodMetricNames(), ElementsAre("a"));
  EXPECT_EQ(relister().Statuses()[0].error, "down");
}

TEST_F(RelisterTest, ANewKindIsSeenWithoutAsking) {
  floor_.Load(CompileOrDie(Rules({"a"})));
  EXPECT_EQ(relister().registry()->custom_list()->size(), 2u);
  std::vector<kube::ResourceInfo> resources = SmallCluster();
  resources.push_back(Kind("cars.example", "trucks", "truck", "Truck"));
  floor_.directory.SetMapper(resources);
  Advance(absl::Seconds(1));
  EXPECT_EQ(relister().registry()->custom_list()->size(), 3u);
  EXPECT_EQ(floor_.source.selectors().size(), 1u);
}

TEST_F(RelisterTest, IsNotReadyBeforeTheResourcesAreKnown) {
  floor_.directory.SetMapper({});
  floor_.Load(CompileOrDie(Rules({"a"})));
  EXPECT_FALSE(relister().first_round_done());
  // Looked for soon: a server with resourceRules alone has nothing else to do.
  EXPECT_LE(relister().Step(), absl::Milliseconds(50));
  floor_.directory.SetMapper(SmallCluster());
  relister().Step();
  EXPECT_TRUE(relister().first_round_done());
  EXPECT_THAT(PodMetricNames(), ElementsAre("a"));
}

// With a live source beside Prometheus.
class TwoSourcesRelisterTest : public testing::Test {
 protected:
  TwoSourcesRelisterTest() {
    for (FakeSource* source : {&live_, &prometheus_}) {
      source->OnSeries([](const std::string& selector) {
        return std::vector<SeriesName>{{selector, {"ns", "po"}}};
      });
    }
    relister_.SetRules(
        CompileOrDie("rules:\n"
                     "- {seriesQuery: a, resources: {template: <<.Resource>>}, metricsQuery: 'a'}\n"
                     "- {seriesQuery: b, resources: {template: <<.Resource>>}, metricsQuery: 'b', "
                     "source: prometheus}\n"));
    relister_.Step();
  }
  void NewSeriesAfter(absl::Duration wait) {
    clock_.Advance(wait);
    relister_.AskNow();
    relister_.Step();
  }

  SimulatedClock clock_{absl::FromUnixSeconds(1700000000)};
  FakeSource live_, prometheus_;
  ChoosingSource source_{live_, prometheus_, clock_, absl::Minutes(1)};
  FakeDirectory directory_;
  Relister relister_{{.source = source_,
                      .directory = directory_,
                      .clock = clock_,
                      .metrics = nullptr,
                      .run = [](const std::function<void()>& task) { task(); },
                      .wake = [] {}},
                     {.interval = absl::Minutes(1)}};
};

TEST_F(TwoSourcesRelisterTest, NewLiveSeriesDoNotMakePrometheusListMoreOftenThanTheInterval) {
  ASSERT_THAT(prometheus_.selectors(), UnorderedElementsAre("a", "b"));
  for (int i = 0; i < 50; ++i) NewSeriesAfter(absl::Seconds(1));
  EXPECT_EQ(live_.selectors().size(), 51u);
  EXPECT_EQ(prometheus_.selectors().size(), 2u);
  clock_.Advance(absl::Seconds(10));
  relister_.Step();
  EXPECT_EQ(prometheus_.selectors().size(), 4u) << "nor less often";
}

TEST_F(TwoSourcesRelisterTest, NewLiveSeriesDoNotEndTheWaitAfterAFailure) {
  prometheus_.OnSeries([](const std::string&) -> absl::StatusOr<std::vector<SeriesName>> {
    return absl::UnavailableError("down");
  });
  for (const int asked : {4, 6, 8}) {
    clock_.Advance(absl::Minutes(1));
    relister_.Step();
    EXPECT_EQ(prometheus_.selectors().size(), asked);
    NewSeriesAfter(absl::Milliseconds(900));
    EXPECT_EQ(prometheus_.selectors().size(), asked);
  }
}

TEST_F(TwoSourcesRelisterTest, HowLongItTakesToAskForNewSeries) {
  const auto take = [this](FakeSource& source, absl::Duration duration) {
    source.OnSeries([this, duration](const std::string& selector) {
      clock_.Advance(duration);
      return std::vector<SeriesName>{{selector, {"ns", "po"}}};
    });
  };
  take(live_, absl::Seconds(3));
  take(prometheus_, absl::Seconds(10));
  clock_.Advance(absl::Minutes(1));
  relister_.Step();
  NewSeriesAfter(absl::Seconds(1));
  EXPECT_EQ(relister_.AskNowTook(), absl::Seconds(3)) << "Prometheus is not asked then";
}

// Tasks that run when the test says so.
class SlowRelisterTest : public testing::Test {
 protected:
  SlowRelisterTest()
      : relister_({.source = source_,
                   .directory = directory_,
                   .clock = clock_,
                   .metrics = nullptr,
                   .run = [this](std::function<void()> task) { tasks_.push_back(std::move(task)); },
                   .wake = [] {}},
                  {.interval = absl::Minutes(1)}) {
    source_.OnSeries([](const std::string& selector) {
      return std::vector<SeriesName>{{selector, {"ns", "po"}}};
    });
  }

  SimulatedClock clock_{absl::FromUnixSeconds(1700000000)};
  FakeSource source_;
  FakeDirectory directory_;
  std::vector<std::function<void()>> tasks_;
  Relister relister_;
};

TEST_F(SlowRelisterTest, AHangingRuleHoldsUpNoOther) {
  relister_.SetRules(CompileOrDie(Rules({"hangs", "works"})));
  relister_.Step();
  ASSERT_EQ(tasks_.size(), 2u);
  tasks_[1]();
  clock_.Advance(absl::Seconds(1));
  relister_.Step();
  EXPECT_EQ(relister_.registry()->custom_list()->size(), 2u);
  EXPECT_FALSE(relister_.first_round_done());
  // The one under way is not asked a second time, the other is when it is due.
  clock_.Advance(absl::Minutes(1));
  relister_.Step();
  ASSERT_EQ(tasks_.size(), 3u);
  tasks_[2]();
  tasks_[0]();
  relister_.Step();
  EXPECT_EQ(relister_.registry()->custom_list()->size(), 4u);
  EXPECT_TRUE(relister_.first_round_done());
}

TEST_F(SlowRelisterTest, ARuleThatHangsForLongDoesNotHoldUpTheStart) {
  relister_.SetRules(CompileOrDie(Rules({"hangs"})));
  relister_.Step();
  clock_.Advance(absl::Seconds(59));
  relister_.Step();
  EXPECT_FALSE(relister_.first_round_done());
  clock_.Advance(absl::Seconds(1));
  relister_.Step();
  EXPECT_TRUE(relister_.first_round_done());
}

TEST_F(SlowRelisterTest, WhatIsUnderWayWhenNewSeriesComeIsAskedOnceMore) {
  relister_.SetRules(CompileOrDie(Rules({"a"})));
  relister_.Step();
  relister_.AskNow();
  relister_.Step();
  ASSERT_EQ(tasks_.size(), 1u);
  tasks_[0]();
  relister_.Step();
  ASSERT_EQ(tasks_.size(), 2u);
  tasks_[1]();
  relister_.Step();
  EXPECT_EQ(tasks_.size(), 2u);
}

TEST_F(SlowRelisterTest, WhatComesAfterAReloadIsForgotten) {
  relister_.SetRules(CompileOrDie(Rules({"old"})));
  relister_.Step();
  relister_.SetRules(CompileOrDie(Rules({"new"})));
  tasks_[0]();
  relister_.Step();
  EXPECT_EQ(relister_.registry()->custom_list()->size(), 0u);
  ASSERT_EQ(tasks_.size(), 2u);
  tasks_[1]();
  relister_.Step();
  EXPECT_EQ(relister_.registry()->custom_list()->at(0).metric, "new");
}

}  // namespace
}  // namespace flyball::adapter
