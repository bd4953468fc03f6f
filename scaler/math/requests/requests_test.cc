// What the vectors do not show: each mechanism alone.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "scaler/math/requests/bounds.h"
#include "scaler/math/requests/decay.h"
#include "scaler/math/requests/pod_sampling.h"
#include "scaler/math/requests/recent_maximum.h"
#include "scaler/math/requests/request_decider.h"
#include "scaler/math/requests/subset.h"
#include "scaler/math/requests/traffic.h"
#include "scaler/math/requests/window.h"

namespace flyball::scaler {
namespace {

constexpr auto kEqual = RequestWindow::Weights::kEqual;
constexpr auto kExponential = RequestWindow::Weights::kExponential;

absl::Time At(double seconds) {
  return absl::FromUnixSeconds(1'700'000'000) + absl::Seconds(seconds);
}

TEST(RequestWindowTest, YoungSilentAndWithAHole) {
  RequestWindow window(10, kEqual);
  EXPECT_TRUE(window.Empty(100));
  for (int64_t second = 100; second < 105; ++second) window.Record(second, 60);
  EXPECT_EQ(window.Average(104), 60);
  EXPECT_EQ(window.Average(109), 60);  // silence shortens it
  window.Record(109, 60);
  EXPECT_EQ(window.Average(109), 36);  // 360 over ten seconds: the hole is zeros now
  EXPECT_FALSE(window.Empty(119));
  EXPECT_EQ(window.Average(119), 0);
  EXPECT_TRUE(window.Empty(120));
}

TEST(RequestWindowTest, LateSamples) {
  RequestWindow window(5, kEqual);
  window.Record(100, 10);
  window.Record(95, 7);  // has left the window
  EXPECT_EQ(window.Average(100), 10);
  window.Record(96, 30);  // moves the beginning back
  EXPECT_EQ(window.Average(100), 8);
}

// What Go prints for 1 - math.Pow(0.0001, 1/n) and for powers of the rest.
TEST(DecayTest, IsGosToTheLastBit) {
  EXPECT_EQ(DecayOf(1), 0.9999);
  EXPECT_EQ(DecayOf(6), 0.7845565309968116);
  EXPECT_EQ(DecayOf(41), 0.20119821919842973);
  EXPECT_EQ(DecayOf(42), 0.2);
  EXPECT_EQ(PowerOf(1 - DecayOf(6), 0), 1);
  EXPECT_EQ(PowerOf(1 - DecayOf(6), 1), 1 - DecayOf(6));
  EXPECT_EQ(PowerOf(1 - DecayOf(6), 5), 0.0004641588833612787);
  EXPECT_EQ(PowerOf(0.8, 37), 0.00025961484292674243);
  EXPECT_EQ(PowerOf(0.8, 1'000'000'000), 0);
}

TEST(RequestWindowTest, ExponentialWeights) {
  RequestWindow window(60, kExponential);
  for (int64_t second = 100; second < 103; ++second) window.Record(second, 100);
  EXPECT_NEAR(window.Average(102), 48.8, 1e-9);  // 20 + 16 + 12.8: young windows read low
}

TEST(RequestWindowTest, ResizingKeepsTheNewest) {
  RequestWindow window(4, kEqual);
  for (int64_t second = 100; second < 104; ++second)
    window.Record(second, static_cast<double>(second));
  window.Resize(2, 103);
  EXPECT_EQ(window.Average(103), 102.5);
  window.Resize(6, 103);
  EXPECT_EQ(window.Average(103), 102.5);  // it is as old as the old one could be
  window.Resize(3, 120);                  // nothing is left by then
  EXPECT_TRUE(window.Empty(120));
  window.Record(121, 5);
  EXPECT_EQ(window.Average(121), 5);
}

TEST(RecentMaximumTest, LargestOfTheSlots) {
  RecentMaximum recent(absl::Seconds(6), absl::Seconds(2));
  EXPECT_EQ(recent.Record(At(0), 5), 5);
  EXPECT_EQ(recent.Record(At(1), 3), 5);  // the same slot keeps the largest
  EXPECT_EQ(recent.Record(At(2), 2), 5);
  EXPECT_EQ(recent.Record(At(4), 1), 5);
  EXPECT_EQ(recent.Record(At(6), 1), 2);
  EXPECT_EQ(recent.Record(At(60), 0), 0);
}

TEST(SampleSizeTest, NeverMoreThanSixteen) {
  const std::pair<int64_t, int64_t> want[] = {{0, 0},  {3, 3},    {4, 4},     {5, 4},
                                              {10, 7}, {100, 14}, {1000, 16}, {100000000, 16}};
  for (const auto& [population, size] : want) EXPECT_EQ(SampleSize(population), size);
}

TEST(TrafficOfAllTest, YoungPodsStandInForThoseThatFail) {
  const auto pod = [](int age, double concurrency) {
    return ScrapedPod{absl::Seconds(age), TrafficSample{.concurrency = concurrency}};
  };
  const std::vector<ScrapedPod> all = {pod(5, 9), pod(90, 2), pod(90, 2), pod(90, 2), pod(90, 2)};
  EXPECT_EQ(TrafficOfAll(all, absl::Seconds(60))->concurrency, 10);
  std::vector<ScrapedPod> one_fails = all;
  one_fails[1].answer.reset();
  EXPECT_EQ(TrafficOfAll(one_fails, absl::Seconds(60))->concurrency, (9 + 2 + 2 + 2) / 4.0 * 5);
  one_fails[2].answer.reset();
  EXPECT_FALSE(TrafficOfAll(one_fails, absl::Seconds(60)).has_value());
  EXPECT_EQ(TrafficOfAll({}, absl::Seconds(60))->concurrency, 0);
}

TEST(ChooseSubsetTest, MostlyTheSameWhenAMemberGoes) {
  std::vector<std::string> members;
  for (int i = 0; i < 50; ++i) members.push_back("10.0.0." + std::to_string(i));
  const std::vector<std::string> before = ChooseSubset(members, 5, "web");
  ASSERT_EQ(before.size(), 5u);
  members.erase(std::find(members.begin(), members.end(), before[2]));
  const std::vector<std::string> after = ChooseSubset(members, 5, "web");
  std::vector<std::string> both;
  std::set_intersection(before.begin(), before.end(), after.begin(), after.end(),
                        std::back_inserter(both));
  EXPECT_GE(both.size(), 3u);
  EXPECT_EQ(ChooseSubset({"b", "a", "b"}, 7, "web"), (std::vector<std::string>{"a", "b"}));
}

TEST(WithinBoundsTest, TheLowerWins) {
  EXPECT_EQ(WithinBounds(3, 2, 1), 3);
  EXPECT_EQ(WithinBounds(0, 0, 1000), 1000);
  EXPECT_EQ(WithinBounds(0, 5, 1000), 5);
}

TEST(ActivatorCountTest, AnEndlessTargetAndNoPodsGiveNoNumber) {
  RequestSettings settings;
  settings.total = std::numeric_limits<double>::infinity();
  settings.target_burst_capacity = 211;
  settings.activator_capacity = 100;
  EXPECT_EQ(ActivatorCount(settings, 0), INT32_MIN);
  settings.total = 100;
  EXPECT_EQ(ActivatorCount(settings, 0), 3);
}

}  // namespace
}  // namespace flyball::scaler
