#include "doctor/rule_series.h"

#include <string>

#include "adapter/testing/fakes.h"
#include "adapter/testing/floor.h"
#include "doctor/test_findings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::doctor {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr absl::Time kNow = absl::FromUnixSeconds(1700000000);
constexpr char kRules[] = R"(
rules:
- seriesQuery: requests_total
  resources: {overrides: {namespace: {resource: namespace}, pod: {resource: pod}}}
  metricsQuery: sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)
- seriesQuery: requests_total
  name: {matches: "^other"}
  resources: {overrides: {namespace: {resource: namespace}}}
  metricsQuery: sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)
externalRules:
- seriesQuery: gone_total
  resources: {namespaced: false}
  metricsQuery: sum(<<.Series>>{<<.LabelMatchers>>})
)";

class DiscoverSeriesTest : public testing::Test {
 protected:
  void SetUp() override {
    source_.OnQuery([](const std::string&) { return adapter::VectorOf({}); });
    source_.OnSeries(
        [this](const std::string& selector) -> absl::StatusOr<std::vector<adapter::SeriesName>> {
          ++asked_;
          if (selector != "requests_total") return std::vector<adapter::SeriesName>();
          return std::vector<adapter::SeriesName>{{"requests_total", {"namespace", "pod"}}};
        });
  }

  Discovered Discover() {
    return DiscoverSeries(*adapter::CompileOrDie(kRules), source_,
                          adapter::FakeDirectory().mapper(), {.now = kNow});
  }

  adapter::FakeSource source_;
  int asked_ = 0;
};

TEST_F(DiscoverSeriesTest, CountsForEachRuleAndAsksEqualQueriesOnce) {
  const Discovered found = Discover();
  ASSERT_EQ(found.rules.size(), 3u);
  EXPECT_EQ(found.rules[0].accepted, 1u);
  EXPECT_EQ(found.rules[1].found, 1u);
  EXPECT_EQ(found.rules[1].accepted, 0u);
  EXPECT_EQ(found.rules[2].found, 0u);
  EXPECT_EQ(asked_, 3);  // requests_total, gone_total, and gone_total of the last day
  EXPECT_EQ(found.registry->custom_list()->size(), 2u);  // for pods and for namespaces
}

TEST_F(DiscoverSeriesTest, SaysOfEachRuleWhyItFindsNothing) {
  EXPECT_THAT(
      Lines(CheckDiscovered(Discover(), "http://prometheus", true)),
      ElementsAre("good prometheus: Prometheus answers at http://prometheus",
                  AllOf(HasSubstr("bad rule-series: rule test.yaml:6 matches no series: 1 are "
                                  "found by requests_total"),
                        HasSubstr("| loosen seriesFilters or name.matches at test.yaml:6")),
                  HasSubstr("bad rule-series: rule test.yaml:11 matches no series: gone_total"),
                  "good rule-series: 1 of 3 rules match 1 series"));
}

TEST_F(DiscoverSeriesTest, AnotherAutoscalersRuleIsOnlyDoubtful) {
  EXPECT_THAT(Lines(CheckDiscovered(Discover(), "", false))[1], HasSubstr("doubtful rule-series"));
}

TEST_F(DiscoverSeriesTest, TellsWhatWasThereEarlier) {
  source_.OnSeries(
      [this](const std::string& selector) -> absl::StatusOr<std::vector<adapter::SeriesName>> {
        const bool back = source_.starts().back() == kNow - absl::Hours(24);
        if (selector == "gone_total" && !back) return std::vector<adapter::SeriesName>();
        return std::vector<adapter::SeriesName>{{selector, {"namespace"}}};
      });
  EXPECT_THAT(Lines(CheckDiscovered(Discover(), "", true))[2],
              AllOf(HasSubstr("gone_total had 1 in the last day and none in the last 10m"),
                    HasSubstr("--metrics-max-age")));
}

TEST_F(DiscoverSeriesTest, AsksNothingOfADeadPrometheus) {
  source_.OnQuery(
      [](const std::string&) { return absl::UnavailableError("http://p: connection refused"); });
  const Discovered found = Discover();
  EXPECT_EQ(asked_, 0);
  EXPECT_EQ(found.registry, nullptr);
  EXPECT_THAT(Lines(CheckDiscovered(found, "", true)),
              ElementsAre(AllOf(HasSubstr("bad prometheus"), HasSubstr("connection refused"),
                                HasSubstr("--prometheus-url"))));
}

TEST_F(DiscoverSeriesTest, AQueryThatFailsIsThatRulesAlone) {
  source_.OnSeries(
      [](const std::string& selector) -> absl::StatusOr<std::vector<adapter::SeriesName>> {
        if (selector == "gone_total") return absl::InvalidArgumentError("parse error");
        return std::vector<adapter::SeriesName>{{"requests_total", {"namespace", "pod"}}};
      });
  const auto lines = Lines(CheckDiscovered(Discover(), "", true));
  EXPECT_THAT(lines[2], HasSubstr("the series query of rule test.yaml:11 fails: parse error"));
  EXPECT_THAT(lines[3], HasSubstr("good rule-series"));
}

}  // namespace
}  // namespace flyball::doctor
