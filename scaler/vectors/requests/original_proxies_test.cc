#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scaler/vectors/requests/activity_reporter.h"
#include "scaler/vectors/requests/throttle.h"

namespace flyball::scaler {
namespace {

absl::Time At(double seconds) {
  return absl::FromUnixSeconds(1'700'000'000) + absl::Seconds(seconds);
}

TEST(ActivityReporterTest, TellsTheFirstAtOnceAndForgetsWhoIsQuiet) {
  ActivityReporter reporter;
  ASSERT_TRUE(reporter.Begin("web", At(0)).has_value());
  EXPECT_FALSE(reporter.Begin("web", At(0)).has_value());
  std::vector<ActivityReport> reports = reporter.Report(At(1));
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].concurrency, 1);  // two, less the one that was reported at once
  EXPECT_EQ(reports[0].requests, 1);
  reporter.End("web", At(1));
  reporter.End("web", At(1));
  ASSERT_EQ(reporter.Report(At(2)).size(), 1u);  // the last report, which says 0
  EXPECT_TRUE(reporter.Report(At(3)).empty());
  EXPECT_TRUE(reporter.Begin("web", At(3)).has_value());
}

std::vector<std::string> Pods(int count) {
  std::vector<std::string> pods;
  for (int i = 0; i < count; ++i) pods.push_back("10.0.0." + std::to_string(i));
  return pods;
}

std::vector<Throttle::DestinationPtr> AdmitAll(Throttle& throttle) {
  std::vector<Throttle::DestinationPtr> admitted;
  while (auto next = throttle.Admit()) admitted.push_back(next);
  return admitted;
}

TEST(ThrottleTest, NoPodHasMoreThanItsLimit) {
  Throttle throttle({.container_concurrency = 2});
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(throttle.Arrive());
  EXPECT_TRUE(AdmitAll(throttle).empty());
  throttle.SetPods(Pods(3));
  const auto admitted = AdmitAll(throttle);
  EXPECT_EQ(admitted.size(), 6u);
  for (const auto& each : admitted) EXPECT_LE(each->running, 2);
  EXPECT_EQ(throttle.waiting(), 4);
  throttle.Finish(admitted[0]);
  EXPECT_EQ(throttle.Admit(), admitted[0]);
}

TEST(ThrottleTest, WithoutALimitAllRunWhileThereIsAPod) {
  Throttle throttle({});
  for (int i = 0; i < 10; ++i) throttle.Arrive();
  EXPECT_EQ(throttle.Admit(), nullptr);
  throttle.SetPods(Pods(2));
  EXPECT_EQ(AdmitAll(throttle).size(), 10u);
  EXPECT_EQ(throttle.assigned()[0]->running, 5);
  throttle.SetPods({});
  throttle.Arrive();
  EXPECT_EQ(throttle.Admit(), nullptr);
}

TEST(ThrottleTest, TheQueueHasAnEnd) {
  Throttle throttle({.container_concurrency = 1, .queue = 2, .running = 1});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(throttle.Arrive());
  EXPECT_FALSE(throttle.Arrive());
  throttle.Abandon();
  EXPECT_TRUE(throttle.Arrive());
}

TEST(ThrottleTest, ProxiesShareThePods) {
  const std::vector<std::string> proxies = {"a", "b", "c"};
  size_t all = 0;
  for (const std::string& self : proxies) {
    Throttle throttle({.container_concurrency = 5});
    throttle.SetProxies(proxies, self);
    throttle.SetPods(Pods(8));
    all += throttle.assigned().size();
  }
  EXPECT_EQ(all, 8u);
  Throttle stranger({.container_concurrency = 5});
  stranger.SetProxies(proxies, "d");
  stranger.SetPods(Pods(8));
  EXPECT_EQ(stranger.assigned().size(), 8u);  // not one of the proxies, so it keeps all pods
}

TEST(ThrottleTest, AServiceAddressTakesAShare) {
  Throttle throttle({.container_concurrency = 3});
  throttle.SetProxies({"a", "b"}, "a");
  throttle.SetServiceAddress("10.9.9.9:80", 3);
  EXPECT_EQ(throttle.capacity(), 4);
  throttle.SetServiceAddress("10.9.9.9:80", 0);
  EXPECT_EQ(throttle.capacity(), 0);
}

}  // namespace
}  // namespace flyball::scaler
