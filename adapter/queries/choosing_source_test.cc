#include "adapter/queries/choosing_source.h"

#include <gtest/gtest.h>

#include <string>

#include "adapter/queries/query_flights.h"
#include "adapter/testing/fakes.h"

namespace flyball::adapter {
namespace {

constexpr absl::Duration kTimeout = absl::Seconds(1);
constexpr absl::Duration kInterval = absl::Minutes(10);

class ChoosingSourceTest : public testing::Test {
 protected:
  ChoosingSourceTest() {
    live_.OnQuery([](const std::string& promql) -> FakeSource::Result {
      if (promql == "young") return absl::UnavailableError("since when");
      if (promql == "strange") return absl::InvalidArgumentError("1:1: parse error");
      return VectorOf({{.labels = {{"from", "live"}}, .time = {}, .value = 1}});
    });
    prometheus_.OnQuery([this](const std::string&) -> FakeSource::Result {
      if (!prometheus_is_up_) return absl::UnavailableError("prometheus is down");
      return VectorOf({{.labels = {{"from", "prometheus"}}, .time = {}, .value = 2}});
    });
  }

  static std::string From(const absl::StatusOr<std::shared_ptr<const QueryResult>>& result) {
    if (!result.ok()) return std::string(result.status().message());
    return (*result)->samples.at(0).labels.at(0).second;
  }
  std::string Ask(const std::string& promql, MetricSource& source) {
    const auto result = source.Query(promql, absl::UnixEpoch(), kTimeout);
    StandingQuery query(promql);
    const auto standing = source.Ask(query, absl::UnixEpoch(), kTimeout);
    EXPECT_EQ(From(result), standing.ok() ? From(standing->result) : From(standing.status()));
    return From(result);
  }

  FakeSource live_, prometheus_;
  SimulatedClock clock_{absl::UnixEpoch()};
  ChoosingSource source_{live_, prometheus_, clock_, kInterval};
  bool prometheus_is_up_ = true;
};

TEST_F(ChoosingSourceTest, PrometheusAnswersWhatTheLiveSourceCannot) {
  EXPECT_EQ(Ask("x", source_), "live");
  EXPECT_TRUE(prometheus_.queries().empty());
  EXPECT_EQ(Ask("young", source_), "prometheus");
  EXPECT_EQ(Ask("strange", source_), "prometheus");
  prometheus_is_up_ = false;
  EXPECT_EQ(Ask("young", source_), "prometheus is down");
  EXPECT_EQ(Ask("x", source_), "live");
}

TEST_F(ChoosingSourceTest, ARuleMayWantOneOfThem) {
  EXPECT_EQ(Ask("young", source_.Of(rules::SourceChoice::kAny)), "prometheus");
  EXPECT_EQ(Ask("young", source_.Of(rules::SourceChoice::kLive)), "since when");
  EXPECT_EQ(Ask("x", source_.Of(rules::SourceChoice::kPrometheus)), "prometheus");
  EXPECT_EQ(&live_.Of(rules::SourceChoice::kPrometheus), &live_) << "where it is the only one";
}

TEST_F(ChoosingSourceTest, EqualQueriesOfTwoSourcesAreTwo) {
  SimulatedClock clock(absl::UnixEpoch());
  QueryFlights flights(source_, clock, {}, nullptr);
  const auto ask = [&](rules::SourceChoice choice) {
    const auto fresh =
        flights.Query("x", clock.MonotonicNow() + kTimeout, absl::InfiniteDuration(), choice);
    return fresh.ok() ? From(fresh->result) : "";
  };
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(ask(rules::SourceChoice::kPrometheus), "prometheus");
    EXPECT_EQ(ask(rules::SourceChoice::kLive), "live");
    EXPECT_EQ(ask(rules::SourceChoice::kAny), "live");
  }
  EXPECT_EQ(prometheus_.queries().size(), 1u);
  EXPECT_EQ(live_.queries().size(), 2u);
  StandingQuery query("x", rules::SourceChoice::kPrometheus);
  const auto standing = flights.Ask(query, clock.MonotonicNow() + kTimeout);
  ASSERT_TRUE(standing.ok());
  EXPECT_EQ(From(standing->result), "prometheus");
}

TEST_F(ChoosingSourceTest, SeriesAreThoseOfBoth) {
  const SeriesName a = {.name = "a", .labels = {"pod"}}, b = {.name = "b", .labels = {}},
                   c = {.name = "c", .labels = {}};
  live_.OnSeries([=](const std::string&) { return std::vector<SeriesName>{b, c}; });
  prometheus_.OnSeries([=](const std::string&) { return std::vector<SeriesName>{a, b}; });
  const auto both = source_.Series("{}", absl::UnixEpoch(), kTimeout);
  ASSERT_TRUE(both.ok());
  std::string names;
  for (const SeriesName& name : *both) names += name.name;
  EXPECT_EQ(names, "abc");
  clock_.Advance(kInterval);
  prometheus_.OnSeries([](const std::string&) -> absl::StatusOr<std::vector<SeriesName>> {
    return absl::UnavailableError("prometheus is down");
  });
  EXPECT_TRUE(absl::IsUnavailable(source_.Series("{}", absl::UnixEpoch(), kTimeout).status()));
}

TEST_F(ChoosingSourceTest, PrometheusIsAskedForSeriesOnceInAnInterval) {
  const auto count = [&] {
    const auto both = source_.Series("{}", clock_.WallNow(), kTimeout);
    return both.ok() ? both->size() : 0;
  };
  live_.OnSeries([](const std::string&) { return std::vector<SeriesName>{{"a", {}}}; });
  prometheus_.OnSeries([this](const std::string&) -> absl::StatusOr<std::vector<SeriesName>> {
    if (!prometheus_is_up_) return absl::UnavailableError("prometheus is down");
    return std::vector<SeriesName>{{"b", {}}};
  });
  prometheus_is_up_ = false;
  EXPECT_EQ(count(), 0u);
  prometheus_is_up_ = true;
  EXPECT_EQ(count(), 2u) << "no failure is remembered";
  clock_.Advance(kInterval / 2);
  live_.OnSeries([](const std::string&) { return std::vector<SeriesName>{{"a", {}}, {"c", {}}}; });
  EXPECT_EQ(count(), 3u);
  EXPECT_EQ(prometheus_.selectors().size(), 2u);
  EXPECT_EQ(live_.selectors().size(), 3u);
  clock_.Advance(kInterval / 2);
  EXPECT_EQ(count(), 3u);
  EXPECT_EQ(prometheus_.selectors().size(), 3u);
}

}  // namespace
}  // namespace flyball::adapter
