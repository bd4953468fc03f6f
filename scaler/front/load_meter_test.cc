#include "scaler/front/load_meter.h"

#include <gtest/gtest.h>

namespace flyball::front {
namespace {

constexpr char kNode[] = "front-1";

// A meter beside one Envoy that reports four times a second.
class Beside {
 public:
  Beside() {
    envoys_.Connect(kNode, false);
    envoys_.Heard(kNode, now);
    meter.BeginSecond(now);
    envoys_.BeginSecond(now);
  }
  void Report(const ServiceLoad& load) {
    now += absl::Milliseconds(250);
    meter.Report(kNode, envoys_.Heard(kNode, now), load);
  }
  scaler::TrafficSample SoFar(int64_t unknown) const { return meter.SoFar(envoys_, now, unknown); }
  scaler::TrafficSample EndSecond() {
    const scaler::TrafficSample sample = meter.SoFar(envoys_, now);
    meter.BeginSecond(now);
    meter.KeepOnly(envoys_);
    envoys_.BeginSecond(now);
    return sample;
  }

  absl::Time now = absl::FromUnixSeconds(1000);
  LoadMeter meter{now};

 private:
  Envoys envoys_;
};

TEST(LoadMeterTest, RequestsByHostsCountAtTheirPods) {
  Beside beside;
  beside.meter.SetHosts(true, /*hard_limit=*/false);
  // 3 by the service's listener, and 7 by its hosts, which no listener's statistics have.
  const ServiceLoad load = {.service = "shop/web",
                            .active = 3,
                            .begun = 1,
                            .upstream_active = 9,
                            .upstream_pending = 1,
                            .upstream_begun = 5};
  for (int i = 0; i < 4; ++i) beside.Report(load);
  const scaler::TrafficSample sample = beside.EndSecond();
  EXPECT_EQ(sample.concurrency, 10);
  EXPECT_EQ(sample.requests, 20);
}

// Those at pods came by hosts, in no listener's statistics, when another process gave the slots.
TEST(LoadMeterTest, UnderAHardLimitRequestsOfTheProcessBeforeAreAdded) {
  Beside beside;
  beside.meter.SetHosts(true, /*hard_limit=*/true);
  for (int i = 0; i < 60; ++i) beside.meter.Begin(beside.now);
  for (int i = 0; i < 4; ++i) beside.Report({.service = "shop/web", .upstream_active = 50});
  EXPECT_EQ(beside.SoFar(/*unknown=*/50).concurrency, 110);
  EXPECT_EQ(beside.SoFar(/*unknown=*/0).concurrency, 60);
}

TEST(LoadMeterTest, WhoIsNoEnvoyLeavesNothingBehind) {
  Beside beside;
  beside.meter.Report("stranger", 1, {.service = "shop/web", .active = 1});
  EXPECT_EQ(beside.meter.LastBusyReport("stranger"), 1u);
  beside.Report({.service = "shop/web", .active = 1});
  beside.EndSecond();
  EXPECT_EQ(beside.meter.LastBusyReport("stranger"), 0u);
  EXPECT_NE(beside.meter.LastBusyReport(kNode), 0u);
}

TEST(LoadMeterTest, WithoutHostsTheListenerKnowsAll) {
  Beside beside;
  // A request that is tried again begins at pods twice.
  const ServiceLoad load = {
      .service = "shop/web", .active = 3, .begun = 1, .upstream_active = 3, .upstream_begun = 2};
  for (int i = 0; i < 4; ++i) beside.Report(load);
  const scaler::TrafficSample sample = beside.EndSecond();
  EXPECT_EQ(sample.concurrency, 3);
  EXPECT_EQ(sample.requests, 4);
}

TEST(LoadMeterTest, WhatWasHeldBeginsOnce) {
  Beside beside;
  beside.meter.SetHosts(true, /*hard_limit=*/false);
  for (int i = 0; i < 6; ++i) beside.meter.Begin(beside.now);
  for (int i = 0; i < 4; ++i) beside.Report({.service = "shop/web"});
  scaler::TrafficSample sample = beside.EndSecond();
  EXPECT_EQ(sample.concurrency, 6);
  EXPECT_EQ(sample.requests, 6);
  for (int i = 0; i < 6; ++i) {
    beside.meter.End(beside.now);
    beside.meter.Released(beside.now);
  }
  // The 6 begin at pods, and 2 more.
  beside.Report({.service = "shop/web", .upstream_active = 8, .upstream_begun = 8});
  for (int i = 0; i < 3; ++i) beside.Report({.service = "shop/web", .upstream_active = 8});
  sample = beside.EndSecond();
  EXPECT_EQ(sample.concurrency, 8);
  EXPECT_EQ(sample.requests, 2);
}

TEST(LoadMeterTest, ClientsThatLeftOnTheirWayHideNobodyForLong) {
  Beside beside;
  beside.meter.SetHosts(true, /*hard_limit=*/false);
  beside.meter.Begin(beside.now);
  beside.meter.End(beside.now);
  beside.meter.Released(beside.now);  // and is gone
  for (int second = 0; second < 3; ++second) {
    for (int i = 0; i < 4; ++i) beside.Report({.service = "shop/web"});
    beside.EndSecond();
  }
  beside.Report({.service = "shop/web", .upstream_active = 1, .upstream_begun = 1});
  EXPECT_EQ(beside.EndSecond().requests, 1);
}

}  // namespace
}  // namespace flyball::front
