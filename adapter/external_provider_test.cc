#include "adapter/external_provider.h"

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "adapter/test_floor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::adapter {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr char kRules[] = R"(
externalRules:
- seriesQuery: '{__name__=~"queue_.*"}'
  metricsQuery: 'sum(<<.Series>>{<<.LabelMatchers>>}) by (queue)'
  resources: {overrides: {ns: {resource: namespace}}}
- seriesQuery: '{__name__=~"total_.*"}'
  metricsQuery: 'sum(<<.Series>>{<<.LabelMatchers>>})'
  resources: {overrides: {ns: {resource: namespace}}}
)";

Sample Of(const std::string& queue, double value, int64_t seconds = 100) {
  return {.labels = {{"queue", queue}}, .time = absl::FromUnixSeconds(seconds), .value = value};
}

class ExternalProviderTest : public testing::Test {
 protected:
  explicit ExternalProviderTest(const TestFloor::Options& options = {})
      : floor_(options), provider_(floor_.external()) {
    source_.OnSeries([](const std::string& selector) {
      const bool queues = absl::StrContains(selector, "queue_");
      return std::vector<SeriesName>{
          {.name = queues ? "queue_len" : "total_len", .labels = {"ns", "queue"}}};
    });
    floor_.Load(CompileOrDie(kRules));
    // A series for each queue but "none"; 10 of a, 20 of b.
    source_.OnQuery([](const std::string& promql) {
      std::vector<Sample> samples;
      const auto asks = [&promql](const std::string& queue) {
        return absl::StrContains(promql, "\"" + queue) || absl::StrContains(promql, "|" + queue);
      };
      if (asks("b")) samples.push_back(Of("b", 20));
      if (asks("a")) samples.push_back(Of("a", 10));
      return VectorOf(std::move(samples));
    });
  }

  static ExternalMetricRequest Ask(const std::string& selector, const std::string& ns = "shop",
                                   const std::string& metric = "queue_len") {
    return {.ns = ns, .metric = metric, .selector = *kube::Selector::Parse(selector)};
  }
  std::vector<absl::StatusOr<ExternalMetricList>> GetAll(
      const std::vector<ExternalMetricRequest>& requests) {
    std::vector<const ExternalMetricRequest*> pointers;
    for (const ExternalMetricRequest& request : requests) pointers.push_back(&request);
    return provider_.GetAll(pointers);
  }
  // "queue=value@time" of each item; the error of a failure.
  static std::string Shown(const absl::StatusOr<ExternalMetricList>& list) {
    if (!list.ok()) return std::string(list.status().message());
    return absl::StrJoin(list->items, " ", [](std::string* out, const ExternalMetricValue& item) {
      absl::StrAppend(out, LabelValue(*item.labels, "queue"), "=", item.value_milli, "@",
                      absl::ToUnixSeconds(item.timestamp));
    });
  }
  std::vector<std::string> ShownAll(const std::vector<ExternalMetricRequest>& requests) {
    std::vector<std::string> shown;
    for (const auto& list : GetAll(requests)) shown.push_back(Shown(list));
    return shown;
  }

  TestFloor floor_;
  FakeSource& source_ = floor_.source;
  ExternalProvider provider_;
};

TEST_F(ExternalProviderTest, RequestsThatDifferInOneValueAreOneQuery) {
  EXPECT_THAT(ShownAll({Ask("queue=b"), Ask("queue=a"), Ask("queue=none"), Ask("queue=a")}),
              ElementsAre("b=20000@100", "a=10000@100", "", "a=10000@100"));
  EXPECT_THAT(source_.queries(),
              ElementsAre(R"(sum(queue_len{queue=~"a|b|none",ns="shop"}) by (queue))"));
}

TEST_F(ExternalProviderTest, OneRequestIsItsOwnQuery) {
  EXPECT_THAT(ShownAll({Ask("queue=a")}), ElementsAre("a=10000@100"));
  EXPECT_THAT(source_.queries(), ElementsAre(R"(sum(queue_len{queue="a",ns="shop"}) by (queue))"));
}

TEST_F(ExternalProviderTest, WhatElseDiffersIsAskedApart) {
  GetAll({Ask("queue=a"), Ask("queue=b", "other"), Ask("queue=c,zone=x"), Ask("queue=d,zone=x"),
          Ask("queue=e,zone!=x"), Ask("queue in (f)"), Ask("queue=g,queue!=h"), Ask("")});
  EXPECT_THAT(source_.queries(),
              UnorderedElementsAre(R"(sum(queue_len{queue="a",ns="shop"}) by (queue))",
                                   R"(sum(queue_len{queue="b",ns="other"}) by (queue))",
                                   R"(sum(queue_len{queue=~"c|d",zone="x",ns="shop"}) by (queue))",
                                   R"(sum(queue_len{queue="e",zone!="x",ns="shop"}) by (queue))",
                                   R"(sum(queue_len{queue=~"f",ns="shop"}) by (queue))",
                                   R"(sum(queue_len{queue="g",queue!="h",ns="shop"}) by (queue))",
                                   R"(sum(queue_len{ns="shop"}) by (queue))"));
}

TEST_F(ExternalProviderTest, ATemplateThatTellsNothingApartIsAskedForEach) {
  GetAll({Ask("queue=a", "shop", "total_len"), Ask("queue=b", "shop", "total_len")});
  EXPECT_THAT(source_.queries(), UnorderedElementsAre(R"(sum(total_len{queue="a",ns="shop"}))",
                                                      R"(sum(total_len{queue="b",ns="shop"}))"));
}

TEST_F(ExternalProviderTest, AnUnknownMetricIsNobodyElsesFailure) {
  EXPECT_THAT(ShownAll({Ask("queue=a"), Ask("queue=a", "shop", "nothing"), Ask("queue=b")}),
              ElementsAre("a=10000@100", "the server could not find the metric nothing for ",
                          "b=20000@100"));
}

TEST_F(ExternalProviderTest, AQueryThatIsRefusedIsAskedForEach) {
  source_.OnQuery([](const std::string& promql) -> FakeSource::Result {
    if (absl::StrContains(promql, "|")) return absl::InvalidArgumentError("too much");
    return VectorOf({Of(absl::StrContains(promql, "\"a\"") ? "a" : "b", 1)});
  });
  EXPECT_THAT(ShownAll({Ask("queue=a"), Ask("queue=b")}), ElementsAre("a=1000@100", "b=1000@100"));
}

TEST_F(ExternalProviderTest, WhoAsksAgainIsToldThatNothingChanged) {
  std::vector<ExternalMetricRequest> requests = {Ask("queue=a"), Ask("queue=b")};
  const auto ask = [&] {
    floor_.clock.Advance(absl::Seconds(1));
    auto lists = GetAll(requests);
    for (size_t i = 0; i < lists.size(); ++i)
      requests[i].repeat->origin = lists[i]->repeated.origin;
    return lists;
  };
  for (ExternalMetricRequest& request : requests) {
    request.repeat = Repeat{.max_age = absl::Milliseconds(100), .origin = nullptr};
  }
  EXPECT_FALSE(ask()[0]->repeated.same);
  source_.SayTheSameAt(102);
  for (const auto& list : ask()) {
    EXPECT_TRUE(list->repeated.same);
    EXPECT_EQ(list->repeated.time, absl::FromUnixSeconds(102));
    EXPECT_THAT(list->items, IsEmpty());
  }
  // One that is new among them gets all of it.
  requests.push_back(Ask("queue=a"));
  requests.back().repeat = Repeat{};
  const auto mixed = ask();
  EXPECT_TRUE(mixed[0]->repeated.same);
  EXPECT_EQ(Shown(mixed[2]), "a=10000@100");
  source_.SayTheSameAt(std::nullopt);
  const auto changed = ask();
  EXPECT_FALSE(changed[1]->repeated.same);
  EXPECT_EQ(Shown(changed[1]), "b=20000@100");
}

TEST_F(ExternalProviderTest, OneQuestionAsksAgainForAllOfAnOrigin) {
  const absl::Duration recent = absl::Milliseconds(100);
  std::vector<ExternalMetricRequest> requests = {Ask("queue=a"), Ask("queue=b")};
  for (ExternalMetricRequest& request : requests) {
    request.repeat = Repeat{.max_age = recent, .origin = nullptr};
  }
  const OriginPtr origin = GetAll(requests)[0]->repeated.origin;
  for (ExternalMetricRequest& request : requests) request.repeat->origin = origin;
  const auto again = [&] {
    floor_.clock.Advance(absl::Seconds(1));
    return provider_.Again(origin, absl::Seconds(10), recent);
  };
  source_.SayTheSameAt(102);
  const std::optional<Repeated> same = again();
  ASSERT_TRUE(same.has_value());
  EXPECT_TRUE(same->same);
  EXPECT_EQ(same->origin, origin);
  EXPECT_EQ(same->time, absl::FromUnixSeconds(102));
  source_.SayTheSameAt(std::nullopt);
  ASSERT_TRUE(again().has_value());
  const size_t asked = source_.queries().size();
  EXPECT_EQ(ShownAll(requests)[1], "b=20000@100");
  EXPECT_EQ(source_.queries().size(), asked);  // what was found then is given
  EXPECT_FALSE(again()->same);
  // What cannot be told.
  EXPECT_FALSE(provider_.Again(nullptr, absl::Seconds(10), recent).has_value());
  source_.OnQuery(
      [](const std::string&) -> FakeSource::Result { return absl::UnavailableError("gone"); });
  EXPECT_FALSE(again().has_value());
  source_.SayTheSameAt(103);
  floor_.Load(CompileOrDie(kRules));
  EXPECT_FALSE(again().has_value());  // other rules, maybe another query
}

TEST_F(ExternalProviderTest, WhoAskedAloneIsOfTheOthersOriginAgain) {
  std::vector<ExternalMetricRequest> requests = {Ask("queue=a"), Ask("queue=b"), Ask("queue=c")};
  for (ExternalMetricRequest& request : requests) request.repeat = Repeat{};
  const auto ask = [&] {
    const auto lists = GetAll(requests);
    for (size_t i = 0; i < lists.size(); ++i) {
      requests[i].repeat->origin = lists[i]->repeated.origin;
    }
  };
  ask();
  const OriginPtr origin = requests[0].repeat->origin;
  ASSERT_NE(origin, nullptr);
  source_.SayTheSameAt(103);
  requests[1].repeat->origin = GetAll({requests[1]})[0]->repeated.origin;
  EXPECT_NE(requests[1].repeat->origin, origin);
  ask();
  for (const ExternalMetricRequest& request : requests) EXPECT_EQ(request.repeat->origin, origin);
}

TEST_F(ExternalProviderTest, TheVeryRequestsOfAnEarlierCallMakeItsQueries) {
  std::vector<ExternalMetricRequest> all = {Ask("queue=b"), Ask("queue=a"),
                                            Ask("queue=a", "shop", "total_len"), Ask("queue=c")};
  for (ExternalMetricRequest& request : all) request.repeat = Repeat{};
  // The queries of a call of these.
  const auto ask = [&](const std::vector<size_t>& which) {
    std::vector<ExternalMetricRequest> requests;
    for (const size_t i : which) requests.push_back(all[i]);
    const size_t before = source_.queries().size();
    const auto lists = GetAll(requests);
    for (size_t i = 0; i < which.size(); ++i) {
      EXPECT_EQ(lists[i]->metric, all[which[i]].metric);
      all[which[i]].repeat->origin = lists[i]->repeated.origin;
    }
    const std::vector<std::string> queries = source_.queries();
    return std::vector<std::string>(queries.begin() + static_cast<ptrdiff_t>(before),
                                    queries.end());
  };
  constexpr char kTwo[] = R"(sum(queue_len{queue=~"a|b",ns="shop"}) by (queue))";
  constexpr char kTotal[] = R"(sum(total_len{queue="a",ns="shop"}))";
  EXPECT_THAT(ask({0, 1, 2}), UnorderedElementsAre(kTwo, kTotal));
  EXPECT_THAT(ask({1, 2, 0}), UnorderedElementsAre(kTwo, kTotal));
  // Fewer, and then more, are put together anew.
  EXPECT_THAT(ask({0}), ElementsAre(R"(sum(queue_len{queue="b",ns="shop"}) by (queue))"));
  EXPECT_THAT(ask({0, 1, 3}),
              ElementsAre(R"(sum(queue_len{queue=~"a|b|c",ns="shop"}) by (queue))"));
  // So are those that come from different calls, and all of them under other rules.
  EXPECT_THAT(ask({2}), ElementsAre(kTotal));
  EXPECT_THAT(ask({0, 1, 2}), UnorderedElementsAre(kTwo, kTotal));
  floor_.Load(CompileOrDie(R"(
externalRules:
- seriesQuery: '{__name__=~"queue_.*"}'
  metricsQuery: 'max(<<.Series>>{<<.LabelMatchers>>}) by (queue)'
  resources: {overrides: {ns: {resource: namespace}}}
)"));
  EXPECT_THAT(ask({0, 1}), ElementsAre(R"(max(queue_len{queue=~"a|b",ns="shop"}) by (queue))"));
}

class SmallQueriesTest : public ExternalProviderTest {
 protected:
  SmallQueriesTest() : ExternalProviderTest({.queries = {.max_names = 2}}) {}
};

TEST_F(SmallQueriesTest, AQueryHoldsSoManyValuesAndNoMore) {
  GetAll({Ask("queue=c"), Ask("queue=a"), Ask("queue=d"), Ask("queue=b"), Ask("queue=e")});
  EXPECT_THAT(source_.queries(), ElementsAre(R"(sum(queue_len{queue=~"a|b",ns="shop"}) by (queue))",
                                             R"(sum(queue_len{queue=~"c|d",ns="shop"}) by (queue))",
                                             R"(sum(queue_len{queue="e",ns="shop"}) by (queue))"));
}

class NoMergeTest : public ExternalProviderTest {
 protected:
  NoMergeTest() : ExternalProviderTest({.queries = {.merge = false}}) {}
};

TEST_F(NoMergeTest, EachRequestIsItsOwnQuery) {
  GetAll({Ask("queue=a"), Ask("queue=b")});
  EXPECT_THAT(source_.queries(), SizeIs(2));
}

}  // namespace
}  // namespace flyball::adapter
