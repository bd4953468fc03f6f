#include "adapter/external_provider.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "adapter/queries/failure_notes.h"
#include "adapter/testing/floor.h"
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
  using Answers = std::vector<absl::StatusOr<StandingAnswer<ExternalMetricList>>>;
  // What a standing request for these says first.
  Answers AskAll(std::vector<ExternalMetricRequest> requests) {
    return provider_.Stand(std::move(requests))->Ask(absl::Seconds(10));
  }
  // "queue=value@time" of each item; the error of a failure.
  static std::string Shown(const absl::StatusOr<StandingAnswer<ExternalMetricList>>& answer) {
    if (!answer.ok()) return std::string(answer.status().message());
    if (answer->unchanged) return absl::StrCat("as it was @", absl::ToUnixSeconds(*answer->time));
    return absl::StrJoin(
        answer->list.items, " ", [](std::string* out, const ExternalMetricValue& item) {
          absl::StrAppend(out, LabelValue(*item.labels, "queue"), "=", item.value_milli, "@",
                          absl::ToUnixSeconds(item.timestamp));
        });
  }
  static std::vector<std::string> Shown(const Answers& answers) {
    std::vector<std::string> shown;
    for (const auto& answer : answers) shown.push_back(Shown(answer));
    return shown;
  }
  std::vector<std::string> ShownAll(std::vector<ExternalMetricRequest> requests) {
    return Shown(AskAll(std::move(requests)));
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

TEST_F(ExternalProviderTest, AFailureNamesItsRuleBesideTheOriginalsText) {
  source_.OnQuery([](const std::string&) { return absl::UnavailableError("down"); });
  const auto answer = provider_.Get(Ask("queue=a", "shop", "total_len"));
  EXPECT_EQ(answer.status().message(), "unable to fetch metrics");
  EXPECT_EQ(NoteOf(answer.status(), kWarningNote),
            "the query of externalRules[1] (test.yaml:6) fails: Flyball's /debug/rules and its log "
            "say why");
  EXPECT_EQ(floor_.answering().failures.Of({"externalRules", 1})->promql,
            R"(sum(total_len{queue="a",ns="shop"}))");
}

TEST_F(ExternalProviderTest, AFailureSaysThatTheAnswerWasTooLong) {
  source_.OnQuery([](const std::string&) { return SourceAnswerTooLong("larger than 9 bytes"); });
  const auto answer = provider_.Get(Ask("queue=a", "shop", "total_len"));
  EXPECT_EQ(answer.status().message(), "unable to fetch metrics");
  EXPECT_EQ(NoteOf(answer.status(), kTooLongNote), "larger than 9 bytes");
}

TEST_F(ExternalProviderTest, TheRuleRemembersItsLastAnswer) {
  const auto last = [&] { return floor_.relister().Statuses()[0].last_answer; };
  EXPECT_FALSE(last().has_value());
  ASSERT_TRUE(provider_.Get(Ask("queue in (a,b)")).ok());
  ASSERT_TRUE(last().has_value());
  EXPECT_EQ(last()->promql, R"(sum(queue_len{queue=~"a|b",ns="shop"}) by (queue))");
  EXPECT_EQ(last()->values, 2u);
  EXPECT_EQ(last()->at, floor_.clock.WallNow());

  floor_.clock.Advance(absl::Seconds(3));
  const auto standing = provider_.Stand({Ask("queue=a")});
  standing->Ask(absl::Seconds(10));
  EXPECT_EQ(last()->promql, R"(sum(queue_len{queue="a",ns="shop"}) by (queue))");
  EXPECT_EQ(last()->values, 1u);
  EXPECT_EQ(last()->at, floor_.clock.WallNow());
}

TEST_F(ExternalProviderTest, AListIsMadeOnceItIsAdmitted) {
  source_.OnQuery([](const std::string&) {
    auto result = std::make_shared<QueryResult>();
    result->samples = {Of("b", 20), Of("a", 10)};
    result->counted = std::make_shared<int>();
    return FakeSource::Result(std::move(result));
  });
  ListSize asked;
  bool counted = false;
  ExternalMetricRequest request = Ask("queue in (a,b)");
  request.admit = [&](const ListSize& size) {
    asked = size;
    counted = *size.counted != nullptr;
    return absl::ResourceExhaustedError("no room");
  };
  EXPECT_EQ(provider_.Get(request).status(), absl::ResourceExhaustedError("no room"));
  EXPECT_EQ(asked.items, 2u);
  EXPECT_EQ(asked.text_bytes, 2 * (6 + std::string("queuea").size()));
  EXPECT_GE(asked.held_bytes, 2 * sizeof(Sample));
  EXPECT_TRUE(counted) << "until there is room for the list";
  request.admit = [](const ListSize&) { return absl::OkStatus(); };
  EXPECT_THAT(provider_.Get(request)->items, SizeIs(2));
}

TEST_F(ExternalProviderTest, OneRequestIsItsOwnQuery) {
  EXPECT_THAT(ShownAll({Ask("queue=a")}), ElementsAre("a=10000@100"));
  EXPECT_THAT(source_.queries(), ElementsAre(R"(sum(queue_len{queue="a",ns="shop"}) by (queue))"));
}

TEST_F(ExternalProviderTest, WhatElseDiffersIsAskedApart) {
  AskAll({Ask("queue=a"), Ask("queue=b", "other"), Ask("queue=c,zone=x"), Ask("queue=d,zone=x"),
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
  AskAll({Ask("queue=a", "shop", "total_len"), Ask("queue=b", "shop", "total_len")});
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
  const auto standing = provider_.Stand({Ask("queue=a"), Ask("queue=b")});
  for (const size_t queries : {3u, 5u}) {  // from then on each by itself
    EXPECT_THAT(Shown(standing->Ask(absl::Seconds(10))), ElementsAre("a=1000@100", "b=1000@100"));
    EXPECT_THAT(source_.queries(), SizeIs(queries));
  }
  source_.OnQuery([](const std::string&) { return VectorOf({Of("a", 1), Of("b", 1)}); });
  floor_.clock.Advance(absl::Minutes(2));
  EXPECT_THAT(Shown(standing->Ask(absl::Seconds(10))), ElementsAre("a=1000@100", "b=1000@100"));
  EXPECT_THAT(source_.queries(), SizeIs(6)) << "after a while together again";
}

TEST_F(ExternalProviderTest, AQueryThatFailsIsAskedForEachTheNextTime) {
  source_.OnQuery([](const std::string& promql) -> FakeSource::Result {
    if (absl::StrContains(promql, "|")) return absl::UnavailableError("timeout");
    return VectorOf({Of(absl::StrContains(promql, "\"a\"") ? "a" : "b", 1)});
  });
  const auto standing = provider_.Stand({Ask("queue=a"), Ask("queue=b")});
  const auto ask = [&] { return Shown(standing->Ask(absl::Seconds(10))); };
  EXPECT_THAT(ask(), ElementsAre("unable to fetch metrics", "unable to fetch metrics"));
  EXPECT_THAT(ask(), ElementsAre("a=1000@100", "b=1000@100"));
  EXPECT_THAT(source_.queries(), SizeIs(3));
}

TEST_F(ExternalProviderTest, OfAQueryThatFailsEachHalfIsAsked) {
  source_.OnQuery([](const std::string& promql) -> FakeSource::Result {
    if (std::count(promql.begin(), promql.end(), '|') > 1) return absl::UnavailableError("timeout");
    return VectorOf({Of("a", 1), Of("b", 1), Of("c", 1), Of("d", 1)});
  });
  const auto standing =
      provider_.Stand({Ask("queue=a"), Ask("queue=b"), Ask("queue=c"), Ask("queue=d")});
  EXPECT_FALSE(standing->Ask(absl::Seconds(10))[0].ok());
  for (const size_t queries : {3u, 5u}) {
    EXPECT_THAT(Shown(standing->Ask(absl::Seconds(10))),
                ElementsAre("a=1000@100", "b=1000@100", "c=1000@100", "d=1000@100"));
    EXPECT_THAT(source_.queries(), SizeIs(queries));
  }
}

TEST_F(ExternalProviderTest, OfASourceThatIsDownAllIsAskedTogether) {
  source_.OnQuery([](const std::string&) { return absl::UnavailableError("down"); });
  const auto standing = provider_.Stand({Ask("queue=a"), Ask("queue=b"), Ask("queue=c")});
  for (int i = 0; i < 20; ++i) standing->Ask(absl::Seconds(10));
  const size_t before = source_.queries().size();
  standing->Ask(absl::Seconds(10));
  EXPECT_EQ(source_.queries().size(), before + 1);
}

TEST_F(ExternalProviderTest, AStandingRequestIsToldWhenNothingChanged) {
  const auto standing = provider_.Stand({Ask("queue=a"), Ask("queue=b")});
  const auto ask = [&] { return Shown(standing->Ask(absl::Seconds(10))); };
  EXPECT_THAT(ask(), ElementsAre("a=10000@100", "b=20000@100"));
  source_.SayTheSameAt(102);
  EXPECT_THAT(ask(), ElementsAre("as it was @102", "as it was @102"));
  source_.SayTheSameAt(std::nullopt);
  EXPECT_THAT(ask(), ElementsAre("a=10000@100", "b=20000@100"));
  EXPECT_THAT(source_.queries(), SizeIs(3));
}

TEST_F(ExternalProviderTest, AfterAFailureAllIsTold) {
  const auto standing = provider_.Stand({Ask("queue=a"), Ask("", "shop", "total_len")});
  const auto ask = [&] { return Shown(standing->Ask(absl::Seconds(10))); };
  const auto answer = [](const std::string&) { return VectorOf({Of("a", 10)}); };
  source_.OnQuery(answer);
  ask();
  source_.SayTheSameAt(102);
  source_.OnQuery([](const std::string& promql) -> FakeSource::Result {
    if (absl::StrContains(promql, "total")) return VectorOf({Of("a", 10)});
    return absl::UnavailableError("gone");
  });
  EXPECT_THAT(ask(), ElementsAre("unable to fetch metrics", "as it was @102"));
  source_.OnQuery(answer);
  EXPECT_THAT(ask(), ElementsAre("a=10000@100", "as it was @102"));
  EXPECT_THAT(ask(), ElementsAre("as it was @102", "as it was @102"));
}

// The answer that can't be shown is not what a later one is compared with.
TEST_F(ExternalProviderTest, AfterAResultOfTheWrongTypeAllIsTold) {
  const auto standing = provider_.Stand({Ask("queue=a")});
  source_.SayTheSameAt(102);
  for (int i = 0; i < 2; ++i) {
    source_.OnQuery([](const std::string&) -> FakeSource::Result {
      return std::make_shared<const QueryResult>(
          QueryResult{.type = QueryResult::Type::kMatrix, .samples = {Of("a", 1)}});
    });
    EXPECT_EQ(Shown(standing->Ask(absl::Seconds(10)))[0],
              "encountered an unexpected query result type");
  }
}

TEST_F(ExternalProviderTest, OtherRulesMakeOtherQueries) {
  const auto standing = provider_.Stand({Ask("queue=b"), Ask("queue=a")});
  const auto ask = [&] {
    standing->Ask(absl::Seconds(10));
    return source_.queries().back();
  };
  EXPECT_EQ(ask(), R"(sum(queue_len{queue=~"a|b",ns="shop"}) by (queue))");
  floor_.Load(CompileOrDie(R"(
externalRules:
- seriesQuery: '{__name__=~"queue_.*"}'
  metricsQuery: 'max(<<.Series>>{<<.LabelMatchers>>}) by (queue)'
  resources: {overrides: {ns: {resource: namespace}}}
)"));
  EXPECT_EQ(ask(), R"(max(queue_len{queue=~"a|b",ns="shop"}) by (queue))");
}

class SmallQueriesTest : public ExternalProviderTest {
 protected:
  SmallQueriesTest() : ExternalProviderTest({.queries = {.max_names = 2}}) {}
};

TEST_F(SmallQueriesTest, AQueryHoldsSoManyValuesAndNoMore) {
  AskAll({Ask("queue=c"), Ask("queue=a"), Ask("queue=d"), Ask("queue=b"), Ask("queue=e")});
  EXPECT_THAT(source_.queries(), ElementsAre(R"(sum(queue_len{queue=~"a|b",ns="shop"}) by (queue))",
                                             R"(sum(queue_len{queue=~"c|d",ns="shop"}) by (queue))",
                                             R"(sum(queue_len{queue="e",ns="shop"}) by (queue))"));
}

class ShortUrlsTest : public ExternalProviderTest {
 protected:
  ShortUrlsTest() : ExternalProviderTest({.queries = {.max_url_bytes = 90}}) {}
};

TEST_F(ShortUrlsTest, AQueryStaysShortEnoughForAUrl) {
  AskAll({Ask("queue=a"), Ask("queue=b"), Ask("queue=c"), Ask("queue=d"),
          Ask("queue=" + std::string(60, 'e'))});
  EXPECT_THAT(source_.queries(),
              ElementsAre(R"(sum(queue_len{queue=~"a|b|c",ns="shop"}) by (queue))",
                          R"(sum(queue_len{queue="d",ns="shop"}) by (queue))",
                          absl::StrCat(R"(sum(queue_len{queue=")", std::string(60, 'e'),
                                       R"(",ns="shop"}) by (queue))")));
}

class NoMergeTest : public ExternalProviderTest {
 protected:
  NoMergeTest() : ExternalProviderTest({.queries = {.merge = false}}) {}
};

TEST_F(NoMergeTest, EachRequestIsItsOwnQuery) {
  AskAll({Ask("queue=a"), Ask("queue=b")});
  EXPECT_THAT(source_.queries(), SizeIs(2));
}

}  // namespace
}  // namespace flyball::adapter
