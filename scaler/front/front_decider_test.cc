#include "scaler/front/front_decider.h"

#include <gtest/gtest.h>

#include "scaler/front/load_meter.h"

namespace flyball::front {
namespace {

absl::Time Decided(double seconds) { return absl::FromUnixSeconds(5000) + absl::Seconds(seconds); }

scaler::RequestSettings OfTarget(double target) {
  scaler::RequestSettings settings;
  settings.target = target;
  return settings;
}

FrontDecider MakeDecider(const scaler::RequestSettings& settings) {
  return FrontDecider(settings, {.ready = 0}, Decided(0));
}

TEST(FrontDeciderTest, AWakeIsNotDilutedByItsFirstNoticeNorByZerosBefore) {
  FrontDecider decider = MakeDecider(OfTarget(70));
  for (int second = 0; second < 60; ++second) decider.Record(Decided(second), {}, true);
  decider.Wake(Decided(60.4));
  decider.Record(Decided(60.4), {.concurrency = 1}, false);
  EXPECT_EQ(decider.Evaluate(Decided(60.4), {.ready = 0}).wanted, 1);
  decider.Record(Decided(60.5), {.concurrency = 1000}, false);
  EXPECT_EQ(decider.Evaluate(Decided(60.5), {.ready = 0}).wanted,
            15);  // 1000 / 70, and not 334 / 70
  EXPECT_EQ(decider.averages().stable, 1000);
}

TEST(FrontDeciderTest, ACrowdAcrossTheTurnOfASecondIsNoSmaller) {
  FrontDecider decider = MakeDecider(OfTarget(70));
  decider.Wake(Decided(60.95));
  decider.Record(Decided(60.95), {.concurrency = 1}, false);
  decider.Record(Decided(60), {.concurrency = 300}, true);
  EXPECT_EQ(decider.Evaluate(Decided(61.05), {.ready = 0}).wanted, 5);
  decider.Record(Decided(61.15), {.concurrency = 1000}, false);
  EXPECT_EQ(decider.Evaluate(Decided(61.15), {.ready = 0}).wanted, 15);
  decider.Record(Decided(61), {.concurrency = 1000}, true);
  decider.Record(Decided(62), {.concurrency = 2000}, true);
  decider.Evaluate(Decided(63), {.ready = 0});
  EXPECT_NEAR(decider.averages().stable, 4000.0 / 3, 1e-6);  // later ones change only their own
}

TEST(FrontDeciderTest, AWakeOfOneRequestIsRememberedAsOne) {
  FrontDecider decider = MakeDecider(OfTarget(70));
  decider.Wake(Decided(60.5));
  decider.Record(Decided(60), {.concurrency = 1}, true);
  decider.Record(Decided(61), {.concurrency = 0}, true);
  decider.Evaluate(Decided(62), {.ready = 1});
  EXPECT_EQ(decider.averages().stable, 0.5);
}

TEST(FrontDeciderTest, APartOfASecondIsReplacedByTheWhole) {
  FrontDecider decider = MakeDecider(OfTarget(10));
  decider.Record(Decided(1), {.concurrency = 90}, true);
  decider.Record(Decided(2.25), {.concurrency = 10}, false);
  decider.Record(Decided(2.5), {.concurrency = 20}, false);
  decider.Record(Decided(2), {.concurrency = 30}, true);
  decider.Evaluate(Decided(2.9), {.ready = 1});
  EXPECT_EQ(decider.averages().stable, 60);  // (90 + 30) / 2
}

TEST(FrontDeciderTest, BegunRequestsOfAPartOfASecondAreNoRate) {
  scaler::RequestSettings settings = OfTarget(10);
  settings.metric = scaler::kRpsMetric;
  FrontDecider decider = MakeDecider(settings);
  decider.Record(Decided(1), {.requests = 100}, true);
  decider.Record(Decided(2.1), {.requests = 5}, false);
  decider.Evaluate(Decided(2.1), {.ready = 1});
  EXPECT_EQ(decider.averages().stable, 100);
}

TEST(FrontDeciderTest, NoReportIsUnknownAlsoWithoutALimitOnBursts) {
  scaler::RequestSettings settings = OfTarget(10);
  settings.target_burst_capacity = -1;
  FrontDecider decider = MakeDecider(settings);
  EXPECT_FALSE(decider.Evaluate(Decided(0), {.ready = 3}).valid);
  decider.Record(Decided(1), {.concurrency = 25}, true);
  EXPECT_EQ(decider.Evaluate(Decided(2), {.ready = 3}).wanted, 3);
  EXPECT_FALSE(decider.Evaluate(Decided(100), {.ready = 3}).valid);
  EXPECT_EQ(decider.wanted(), 3);
}

TEST(FrontDeciderTest, AnotherScaleDownDelayCountsAtOnce) {
  scaler::RequestSettings settings = OfTarget(10);
  settings.stable_window = absl::Seconds(6);
  FrontDecider decider = MakeDecider(settings);
  const auto pass = [&](int from, int to, double concurrency) {
    for (int second = from; second < to; ++second) {
      decider.Record(Decided(second), {.concurrency = concurrency}, true);
      decider.Evaluate(Decided(second + 1), {.ready = 3});
    }
    return decider.wanted();
  };
  EXPECT_EQ(pass(0, 10, 30), 3);
  settings.scale_down_delay = absl::Minutes(2);
  decider.Configure(settings, Decided(10));
  EXPECT_EQ(pass(10, 100, 10), 3);
  EXPECT_EQ(pass(100, 140, 10), 1);
  EXPECT_EQ(pass(140, 150, 30), 3);
  settings.scale_down_delay = absl::ZeroDuration();
  decider.Configure(settings, Decided(150));
  EXPECT_EQ(pass(150, 160, 10), 1);
}

TEST(FrontDeciderTest, AnotherAggregationCountsAtOnce) {
  scaler::RequestSettings settings = OfTarget(10);
  FrontDecider decider = MakeDecider(settings);
  for (int second = 0; second < 60; ++second) {
    decider.Record(Decided(second), {.concurrency = second < 55 ? 0.0 : 60.0}, true);
  }
  decider.Evaluate(Decided(60), {.ready = 1});
  EXPECT_NEAR(decider.averages().stable, 5, 0.5);
  settings.weighted = true;
  decider.Configure(settings, Decided(60));
  decider.Evaluate(Decided(60), {.ready = 1});
  EXPECT_GT(decider.averages().stable, 10);
}

TEST(FrontDeciderTest, LoadThatNobodyReportsAnyMoreIsUnknownAndNotLess) {
  FrontDecider decider = MakeDecider(OfTarget(10));
  for (int second = 0; second < 60; ++second) {
    decider.Record(Decided(second), {.concurrency = 100}, true);
  }
  EXPECT_EQ(decider.Evaluate(Decided(60), {.ready = 10}).wanted, 10);
  EXPECT_EQ(decider.Evaluate(Decided(64), {.ready = 10}).wanted, 10);  // a report or two were late
  for (const int second : {65, 100, 117, 118, 119, 120}) {
    EXPECT_FALSE(decider.Evaluate(Decided(second), {.ready = 10}).valid) << second;
  }
  decider.Record(Decided(120), {.concurrency = 100}, true);
  EXPECT_TRUE(decider.Evaluate(Decided(121), {.ready = 10}).valid);
}

TEST(FrontDeciderTest, AGapIsNoTimeWithoutLoad) {
  for (const char* const metric : {scaler::kConcurrencyMetric, scaler::kRpsMetric}) {
    scaler::RequestSettings settings = OfTarget(10);
    settings.metric = metric;
    FrontDecider decider = MakeDecider(settings);
    const scaler::TrafficSample sample{.concurrency = 100, .requests = 100};
    for (int second = 0; second < 60; ++second) decider.Record(Decided(second), sample, true);
    EXPECT_EQ(decider.Evaluate(Decided(60), {.ready = 10}).wanted, 10);
    decider.Record(Decided(90.5), sample, false);
    decider.Record(Decided(90), sample, true);
    EXPECT_EQ(decider.Evaluate(Decided(91), {.ready = 10}).wanted, 10) << metric;
    EXPECT_EQ(decider.averages().stable, 100) << metric;
  }
}

ServiceLoad Active(double active, double begun) {
  return {.service = "shop/web", .active = active, .begun = begun};
}

TEST(LoadMeterTest, ASecondIsTheMeanOfItsSamplesAddedOverEnvoys) {
  Envoys envoys;
  LoadMeter meter(Decided(0));
  meter.BeginSecond(Decided(0));
  meter.Report("a", envoys.Heard("a", Decided(0.2)), Active(10, 3));
  meter.Report("a", envoys.Heard("a", Decided(0.4)), Active(20, 4));
  envoys.Heard("a", Decided(0.6));  // a report that does not name it
  meter.Report("b", envoys.Heard("b", Decided(0.5)), Active(7, 1));
  const scaler::TrafficSample sample = meter.SoFar(envoys, Decided(1));
  EXPECT_EQ(sample.concurrency, 17);  // (10 + 20 + 0) / 3 + 7
  EXPECT_EQ(sample.requests, 8);
}

TEST(LoadMeterTest, AnEnvoyThatIsSilentCountsForThreeSeconds) {
  Envoys envoys;
  LoadMeter meter(Decided(0));
  meter.Report("a", envoys.Heard("a", Decided(0.5)), Active(10, 3));
  meter.BeginSecond(Decided(1));
  envoys.BeginSecond(Decided(1));
  EXPECT_EQ(meter.SoFar(envoys, Decided(3)).concurrency, 10);
  EXPECT_EQ(meter.SoFar(envoys, Decided(3.6)).concurrency, 0);
}

TEST(LoadMeterTest, HeldRequestsCountToTheInstantAndNotTwice) {
  Envoys envoys;
  LoadMeter meter(Decided(0));
  meter.BeginSecond(Decided(0));
  meter.BeginSecond(Decided(1));
  meter.Begin(Decided(1.5));
  EXPECT_EQ(meter.SoFar(envoys, Decided(2)).concurrency, 0.5);
  meter.Report("a", envoys.Heard("a", Decided(1.9)), Active(1, 1));
  EXPECT_EQ(meter.SoFar(envoys, Decided(2)).concurrency, 1);
}

TEST(LoadMeterTest, WhoIsHeldInTheSecondOfAWakeCountsAsOne) {
  Envoys envoys;
  LoadMeter meter(Decided(0));
  meter.BeginSecond(Decided(1));
  meter.Wake(Decided(1.9));
  for (int i = 0; i < 1000; ++i) meter.Begin(Decided(1.95));
  EXPECT_EQ(meter.SoFar(envoys, Decided(1.99)).concurrency, 1000);
  meter.BeginSecond(Decided(2));
  for (int i = 0; i < 500; ++i) meter.Begin(Decided(2.1));
  EXPECT_EQ(meter.SoFar(envoys, Decided(2.15)).concurrency, 1500);
  meter.BeginSecond(Decided(3));
  for (int i = 0; i < 500; ++i) meter.Begin(Decided(3.5));
  EXPECT_EQ(meter.SoFar(envoys, Decided(4)).concurrency, 1750);  // on average, as at any other time
}

}  // namespace
}  // namespace flyball::front
