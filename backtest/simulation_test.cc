#include "backtest/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "backtest/report.h"
#include "scaler/spec/schedules_read.h"

namespace flyball::backtest {
namespace {

using scaler::MetricSpec;
using scaler::MetricType;
using testing::ElementsAre;
using testing::HasSubstr;

const absl::Time kFirst = absl::FromUnixSeconds(1767225600);

MetricSpec Metric(MetricType type, int64_t average) {
  MetricSpec metric;
  metric.type = type;
  metric.type_text = std::string(scaler::MetricTypeName(type));
  metric.metric = scaler::MakeMetricIdentifier("load", std::nullopt);
  metric.target.type = scaler::TargetType::kAverageValue;
  metric.target.average_value = scaler::MakeTargetAmount(kube::Quantity::FromMilli(average * 1000));
  return metric;
}

// An autoscaler with min 1 and max 10, decided every 15 s.
class SimulationTest : public testing::Test {
 protected:
  SimulationTest() {
    autoscaler_.ns = "shop";
    autoscaler_.name = "web";
    autoscaler_.scale_target = {"apps/v1", "Deployment", "web"};
    autoscaler_.max_replicas = 10;
    history_ = {.begin = kFirst, .step = absl::Seconds(15), .moments = 0, .totals = {}};
  }

  // `loads` has values of the load, and for how many moments each one lasts.
  Simulated Run(const std::vector<std::pair<std::optional<double>, int>>& loads, int first = 1) {
    std::vector<std::optional<double>> totals;
    for (const auto& [load, moments] : loads) totals.insert(totals.end(), moments, load);
    history_.moments = totals.size();
    history_.totals.assign(autoscaler_.metrics.size(), totals);
    return Simulate({.autoscaler = autoscaler_,
                     .config = config_,
                     .pod = pod_,
                     .schedules = schedules_,
                     .first = first},
                    history_);
  }

  // As the annotation of an HPA has them.
  void Schedule(const std::string& schedules) {
    autoscaler_.annotations[std::string(scaler::kSchedulesAnnotation)] = schedules;
    scaler::FieldErrors errors;
    schedules_ = scaler::ReadScheduleAnnotations(autoscaler_, errors);
    const std::vector<scaler::FieldError> found = std::move(errors).Sorted();
    EXPECT_TRUE(found.empty()) << found[0].ToString();
  }

  // Each change as "+15s 1>4".
  static std::vector<std::string> Short(const Simulated& simulated) {
    std::vector<std::string> out;
    for (const Simulated::Change& change : simulated.changes) {
      out.push_back(absl::StrCat("+", absl::FormatDuration(change.at - kFirst), " ", change.from,
                                 ">", change.to));
    }
    return out;
  }

  scaler::Autoscaler autoscaler_;
  scaler::MathConfig config_;
  scaler::Pod pod_;
  scaler::Schedules schedules_;
  History history_;
};

TEST_F(SimulationTest, FollowsATotalAndGoesBackAfterTheWindow) {
  autoscaler_.metrics = {Metric(MetricType::kExternal, 10)};
  const Simulated got = Run({{10, 2}, {40, 2}, {10, 24}});
  EXPECT_THAT(Short(got), ElementsAre("+30s 1>4", "+6m 4>1"));
  EXPECT_EQ(got.lowest, 1);
  EXPECT_EQ(got.highest, 4);
  // 22 moments with 4 replicas, 6 with one.
  EXPECT_DOUBLE_EQ(got.replica_hours, (22 * 4 + 6) * 15 / 3600.0);
}

TEST_F(SimulationTest, ATotalOfPodsIsSharedByThoseThatThereAreThen) {
  autoscaler_.metrics = {Metric(MetricType::kPods, 10)};
  const Simulated got = Run({{60, 4}}, 2);
  // The first step is limited to twice as many or 4; after the second, six pods have ten each.
  EXPECT_THAT(Short(got), ElementsAre("+0 2>4", "+15s 4>6"));
}

TEST_F(SimulationTest, WhatIsNotKnownHoldsTheCount) {
  autoscaler_.metrics = {Metric(MetricType::kExternal, 10)};
  const Simulated got = Run({{40, 1}, {std::nullopt, 60}}, 1);
  EXPECT_THAT(Short(got), ElementsAre("+0 1>4"));
  EXPECT_EQ(got.not_followed, absl::Minutes(15));
}

TEST_F(SimulationTest, TheBoundIsReachedAndTold) {
  autoscaler_.metrics = {Metric(MetricType::kExternal, 10)};
  const Simulated got = Run({{1000, 4}}, 8);
  ASSERT_EQ(got.changes.size(), 1u);
  EXPECT_EQ(got.changes[0].reason, "max_replicas");
  EXPECT_THAT(got.changes[0].metric, HasSubstr("load"));
  EXPECT_EQ(got.at_max, absl::Minutes(1));
}

TEST_F(SimulationTest, SchedulesSetBoundsAndTargetsAtTheirTime) {
  autoscaler_.metrics = {Metric(MetricType::kExternal, 10)};
  // The history begins at midnight.
  Schedule("[{name: a, start: '1 0 * * *', end: '2 0 * * *', minReplicas: 6}]");
  EXPECT_THAT(Short(Run({{10, 40}})), ElementsAre("+1m 1>6", "+2m 6>1"));
  Schedule("[{name: a, start: '1 0 * * *', end: '2 0 * * *', targets: {load: '5'}}]");
  EXPECT_THAT(Short(Run({{10, 40}})), ElementsAre("+1m 1>2", "+7m 2>1"));
  Schedule("[{name: a, start: '1 0 * * *', end: '2 0 * * *', maxReplicas: 2}]");
  const Simulated low = Run({{90, 12}}, 9);
  EXPECT_THAT(Short(low), ElementsAre("+1m 9>2", "+2m 2>4", "+2m15s 4>8", "+2m30s 8>9"));
  EXPECT_EQ(low.at_max, absl::Minutes(1)) << "of the schedule";
}

TEST_F(SimulationTest, NothingChangesWhileAScheduleHasItPaused) {
  autoscaler_.metrics = {Metric(MetricType::kExternal, 10)};
  Schedule("[{name: a, start: '0 0 * * *', end: '2 0 * * *', paused: true}]");
  EXPECT_THAT(Short(Run({{30, 12}})), ElementsAre("+2m 1>3"));
}

TEST_F(SimulationTest, UtilizationIsOfWhatThePodsRequest) {
  MetricSpec cpu;
  cpu.type = MetricType::kResource;
  cpu.type_text = "Resource";
  cpu.resource = "cpu";
  cpu.target.average_utilization = 50;
  autoscaler_.metrics = {cpu};
  pod_.containers = {{.name = "main", .requests = {{"cpu", kube::Quantity::FromMilli(1000)}}}};
  EXPECT_THAT(Short(Run({{2, 2}}, 2)), ElementsAre("+0 2>4"));
}

TEST_F(SimulationTest, IsToldAsTextAndAsJson) {
  autoscaler_.metrics = {Metric(MetricType::kExternal, 10)};
  const BacktestReport report = {.title = "shop/web",
                                 .begin = kFirst,
                                 .end = kFirst + absl::Minutes(1),
                                 .step = absl::Seconds(15),
                                 .metrics = {"external metric load: sum(load)"},
                                 .notes = {"a note"},
                                 .replica_hours_then = 0.5,
                                 .simulated = Run({{40, 4}})};
  EXPECT_EQ(ReportText(report, false),
            "shop/web from 2026-01-01T00:00:00Z to 2026-01-01T00:01:00Z, decided every 15s\n"
            "  external metric load: sum(load)\n"
            "1 change, between 1 and 4 replicas\n"
            "0.1 replica hours; there really were 0.5\n"
            "2026-01-01T00:00:00Z  1 -> 4, by external metric load(nil)\n"
            "note: a note\n");
  EXPECT_THAT(ReportJson(report), HasSubstr("\"replicaHoursThen\": 0.5"));
}

}  // namespace
}  // namespace flyball::backtest
