#include "scaler/steps/trigger_fallback.h"

#include <gtest/gtest.h>

namespace flyball::scaler {
namespace {

TEST(FallbackOfTrigger, TheyStandBehindThoseOfTheMetrics) {
  OwnSpec own;
  EXPECT_EQ(FallbackOfTrigger(own, 1, 0), nullptr);
  own.metric_fallbacks.resize(3);  // of one metric and two triggers
  own.metric_fallbacks[0].emplace();
  own.metric_fallbacks[2].emplace();
  EXPECT_EQ(FallbackOfTrigger(own, 1, 0), nullptr);
  EXPECT_EQ(FallbackOfTrigger(own, 1, 1), &*own.metric_fallbacks[2]);
  EXPECT_EQ(FallbackOfTrigger(own, 1, 2), nullptr);
}

TEST(ActivityInstead, OnlyWhatAPersonSaysIsKnown) {
  const TriggerReading unknown{
      .error = "it is down",
      .time = absl::FromUnixSeconds(7),
      .front = FrontReadiness{.reason = "NotCarried", .message = "no port"}};
  const Reading::Instead said{.replicas = 3};
  EXPECT_EQ(ActivityInstead(unknown, said).error, "");
  EXPECT_TRUE(ActivityInstead(unknown, said).active);
  EXPECT_FALSE(ActivityInstead(unknown, Reading::Instead{.replicas = 0}).active);
  EXPECT_EQ(ActivityInstead(unknown, Reading::Instead{.replicas = 0}).error, "");
  EXPECT_EQ(ActivityInstead(unknown, said).front->reason, "NotCarried") << "it stays as it is";
  EXPECT_EQ(ActivityInstead(unknown, std::nullopt).error, "it is down");
  const Reading::Instead kept{.replicas = 3, .until = absl::FromUnixSeconds(9)};
  EXPECT_EQ(ActivityInstead(unknown, kept).error, "it is down");
  const TriggerReading pushed{.error = "it is down", .active = true};
  EXPECT_TRUE(ActivityInstead(pushed, Reading::Instead{.replicas = 0}).active);
}

}  // namespace
}  // namespace flyball::scaler
