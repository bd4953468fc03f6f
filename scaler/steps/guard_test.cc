#include "scaler/steps/guard.h"

#include <gtest/gtest.h>

#include <limits>

namespace flyball::scaler {
namespace {

kube::Quantity Q(absl::string_view text) { return *kube::Quantity::Parse(text); }

// 10E times 1000 overflows: the math would read 0.
TEST(GuardAnswerTest, AnAmountThatWouldWrapIsAnError) {
  MetricsAnswer<ExternalMetric> external;
  external.items.push_back({.timestamp = {}, .value = Q("9P")});
  GuardAnswer(external);
  EXPECT_EQ(external.error, "");
  external.items.push_back({.timestamp = {}, .value = Q("10E")});
  GuardAnswer(external);
  EXPECT_EQ(external.error, "series 1: 10E is beyond ±9.0e15");

  MetricsAnswer<ObjectMetric> object;
  object.items.emplace_back().object_name = "web";
  object.items[0].value = Q("-10E");
  GuardAnswer(object);
  EXPECT_EQ(object.error, "value of web: -10E is beyond ±9.0e15");

  MetricsAnswer<PodMetrics> pods;
  pods.items.emplace_back().name = "web-1";
  pods.items[0].containers.push_back({.name = "app", .usage = {{"memory", Q("100Pi")}}});
  GuardAnswer(pods);
  EXPECT_EQ(pods.error, "memory of container app of pod web-1: 100Pi is beyond ±9.0e15");
}

TEST(GuardReadingTest, ASumThatWouldWrapIsAnError) {
  Reading reading;
  PodSample sample;
  sample.value_milli = 9000000000000000000;
  reading.samples.push_back(sample);
  GuardReading(reading);
  EXPECT_EQ(reading.error, "");
  reading.samples.push_back(sample);
  GuardReading(reading);
  EXPECT_EQ(reading.error, "the sum of 2 items is beyond ±9.0e15");
  EXPECT_TRUE(reading.samples.empty());
}

TEST(GuardStatusTest, AnAverageOverNoReplicasIsLeftOut) {
  Decision decision;
  decision.proposals.resize(2);
  decision.proposals[0].formula = Formula::kTotalOverTarget;
  decision.proposals[0].base_replicas = 0;
  decision.proposals[1].formula = Formula::kTotalOverTarget;
  decision.proposals[1].base_replicas = 3;
  decision.status.current_metrics.resize(2);
  decision.status.current_metrics[0].average_value =
      kube::Quantity::FromMilli(std::numeric_limits<int64_t>::min());
  decision.status.current_metrics[1].average_value = kube::Quantity::FromMilli(5);
  AutoscalerStatus stored;
  GuardStatus(stored, decision);
  EXPECT_FALSE(decision.status.current_metrics[0].average_value.has_value());
  EXPECT_TRUE(decision.status.current_metrics[1].average_value.has_value());
  EXPECT_TRUE(decision.status_changed);

  // Once stored like this, the next equal status is no change.
  stored = decision.status;
  decision.status.current_metrics[0].average_value =
      kube::Quantity::FromMilli(std::numeric_limits<int64_t>::min());
  GuardStatus(stored, decision);
  EXPECT_FALSE(decision.status_changed);
}

}  // namespace
}  // namespace flyball::scaler
