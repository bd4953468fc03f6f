#include "backtest/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>

#include "absl/strings/match.h"
#include "base/clock.h"

namespace flyball::backtest {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const absl::Time kBegin = absl::FromUnixSeconds(1767225600);

// A load that doubles once, while there are always two replicas; `more` samples stand beside it.
class Source : public adapter::MetricSource {
 public:
  absl::StatusOr<std::shared_ptr<const adapter::QueryResult>> Query(absl::string_view promql,
                                                                    absl::Time at,
                                                                    absl::Duration) override {
    if (absl::StrContains(promql, "refused")) return absl::InvalidArgumentError("parse error");
    auto result = std::make_shared<adapter::QueryResult>();
    const bool replicas = absl::StrContains(promql, "kube_horizontalpodautoscaler");
    if (!replicas && at == kBegin + absl::Seconds(15)) return absl::UnavailableError("gone");
    adapter::Sample& sample = result->samples.emplace_back();
    sample.value = replicas ? 2 : at < kBegin + absl::Minutes(1) ? 20 : 40;
    if (replicas || more.empty()) return result;
    if (alone) result->samples.clear();
    for (const double value : more) result->samples.emplace_back().value = value;
    return result;
  }
  absl::StatusOr<std::vector<adapter::SeriesName>> Series(absl::string_view, absl::Time,
                                                          absl::Duration) override {
    return std::vector<adapter::SeriesName>();
  }

  std::vector<double> more;
  bool alone = false;  // there are no others
};

class BacktestOfTest : public testing::Test {
 protected:
  BacktestOfTest() {
    scaler::MetricSpec metric;
    metric.type = scaler::MetricType::kExternal;
    metric.metric = scaler::MakeMetricIdentifier("load", std::nullopt);
    metric.target.type = scaler::TargetType::kAverageValue;
    metric.target.average_value = scaler::MakeTargetAmount(kube::Quantity::FromMilli(10'000));
    autoscaler_.ns = "shop";
    autoscaler_.name = "web";
    autoscaler_.scale_target = {"apps/v1", "Deployment", "web"};
    autoscaler_.max_replicas = 10;
    autoscaler_.metrics = {metric};
  }

  absl::StatusOr<BacktestReport> Run(const std::vector<absl::StatusOr<std::string>>& queries) {
    return BacktestOf({.autoscaler = autoscaler_, .config = config_, .pod = pod_}, queries,
                      {kBegin, kBegin + absl::Minutes(2), absl::Seconds(15)}, source_, values_);
  }

  // The replicas that there are at the end, and for how long nothing was known.
  std::pair<int32_t, absl::Duration> EndOf(adapter::ValueGuard& values) {
    const auto report =
        BacktestOf({.autoscaler = autoscaler_, .config = config_, .pod = pod_}, {"load"},
                   {kBegin, kBegin + absl::Hours(1), absl::Seconds(15)}, source_, values);
    EXPECT_TRUE(report.ok()) << report.status();
    if (!report.ok()) return {};
    const auto& changes = report->simulated.changes;
    return {changes.empty() ? 2 : changes.back().to, report->simulated.not_followed};
  }

  Source source_;
  adapter::ValueGuard values_{adapter::NanValue::kZero, Clock::System(), nullptr};
  scaler::Autoscaler autoscaler_;
  scaler::MathConfig config_;
  scaler::Pod pod_;
};

TEST_F(BacktestOfTest, DecidesOverWhatTheSourceRemembers) {
  const auto report = Run({"sum(load)"});
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->simulated.changes.size(), 1u);
  EXPECT_EQ(report->simulated.changes[0].at, kBegin + absl::Minutes(1));
  EXPECT_EQ(report->simulated.changes[0].from, 2) << "as many as there were";
  EXPECT_EQ(report->simulated.changes[0].to, 4);
  EXPECT_DOUBLE_EQ(*report->replica_hours_then, 2 * 2 / 60.0);
  EXPECT_THAT(report->metrics, ElementsAre("external metric load: sum(load)"));
  EXPECT_THAT(report->notes,
              testing::Contains("queries that failed, so that the metric is unknown then: 1"));
}

// As in the answers of the metrics APIs: NaN is 0, or left out with --nan-value=drop, and what is
// infinite is left out.
TEST_F(BacktestOfTest, ASampleCountsAsTheServerWouldAnswerIt) {
  adapter::ValueGuard drops(adapter::NanValue::kDrop, Clock::System(), nullptr);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  source_.more = {nan, std::numeric_limits<double>::infinity(), 10};
  EXPECT_EQ(EndOf(values_), std::pair(5, absl::Seconds(15))) << "one query fails";
  EXPECT_EQ(EndOf(drops), std::pair(5, absl::Seconds(15)));
  source_.more = {nan};
  source_.alone = true;
  EXPECT_EQ(EndOf(values_), std::pair(1, absl::Seconds(15)));
  EXPECT_EQ(EndOf(drops), std::pair(2, absl::Hours(1))) << "it is never known";
}

TEST_F(BacktestOfTest, WithoutAnyQueryThereIsNothingToDecideOn) {
  const auto report = Run({absl::NotFoundError("no rule")});
  EXPECT_TRUE(absl::IsNotFound(report.status()));
  EXPECT_THAT(std::string(report.status().message()), HasSubstr("no rule"));
}

TEST_F(BacktestOfTest, ARefusedQueryIsAnErrorAtOnce) {
  EXPECT_TRUE(absl::IsInvalidArgument(Run({"refused("}).status()));
}

TEST(CheckPeriod, HasSomeMomentsAndNotTooMany) {
  EXPECT_TRUE(CheckPeriod({kBegin, kBegin + absl::Hours(1), absl::Seconds(15)}).ok());
  EXPECT_FALSE(CheckPeriod({kBegin, kBegin, absl::Seconds(15)}).ok());
  EXPECT_FALSE(CheckPeriod({kBegin, kBegin + absl::Hours(9000), absl::Seconds(1)}).ok());
  EXPECT_FALSE(CheckPeriod({kBegin, kBegin + absl::Hours(1), absl::ZeroDuration()}).ok());
  EXPECT_FALSE(CheckPeriod({kBegin, kBegin + absl::Minutes(10), absl::Hours(1)}).ok());
}

}  // namespace
}  // namespace flyball::backtest
