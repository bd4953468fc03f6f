#include "scaler/spec/knative/metadata.h"

#include <gtest/gtest.h>

#include <string>

namespace flyball::scaler::knative {
namespace {

std::string Error(const TextMap& metadata) {
  return std::string(ReadRequestSettings(metadata, 0).status().message());
}

TEST(MetadataTest, NothingSaidIsKnativesDefaults) {
  const absl::StatusOr<RequestSettings> got = ReadRequestSettings({}, 0);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->metric, kConcurrencyMetric);
  EXPECT_EQ(got->target, 70);
  EXPECT_EQ(got->total, 100);
  EXPECT_EQ(got->stable_window, absl::Seconds(60));
  EXPECT_EQ(got->panic_window, absl::Seconds(6));
  EXPECT_EQ(got->panic_threshold, 2);
  EXPECT_EQ(got->target_burst_capacity, 211);
  EXPECT_EQ(got->progress_deadline, absl::Minutes(10));
  EXPECT_FALSE(got->weighted);
}

TEST(MetadataTest, EveryKeyIsRead) {
  const absl::StatusOr<RequestSettings> got =
      ReadRequestSettings({{"metric", "rps"},
                           {"metricAggregationAlgorithm", "weighted-exponential"},
                           {"target", " 50 "},
                           {"targetUtilizationPercentage", "80"},
                           {"targetBurstCapacity", "-1"},
                           {"window", "30s"},
                           {"panicWindowPercentage", "20"},
                           {"panicThresholdPercentage", "150"},
                           {"initialScale", "3"},
                           {"activationScale", "4"},
                           {"scaleDownDelay", "10s"},
                           {"scaleToZeroPodRetentionPeriod", "1m"},
                           {"progressDeadline", "30m"}},
                          0);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->metric, kRpsMetric);
  EXPECT_TRUE(got->weighted);
  EXPECT_EQ(got->total, 50);
  EXPECT_EQ(got->target, 40);
  EXPECT_EQ(got->target_burst_capacity, -1);
  EXPECT_EQ(got->stable_window, absl::Seconds(30));
  EXPECT_EQ(got->panic_window, absl::Seconds(6));
  EXPECT_EQ(got->panic_threshold, 1.5);
  EXPECT_EQ(got->initial_scale, 3);
  EXPECT_EQ(got->activation_scale, 4);
  EXPECT_EQ(got->scale_down_delay, absl::Seconds(10));
  EXPECT_EQ(got->pod_retention, absl::Minutes(1));
  EXPECT_EQ(got->progress_deadline, absl::Minutes(30));
}

TEST(MetadataTest, AHardLimitCapsTheTarget) {
  EXPECT_EQ(ReadRequestSettings({}, 10)->target, 7);
  EXPECT_EQ(ReadRequestSettings({{"target", "100"}}, 10)->total, 10);
  EXPECT_EQ(ReadRequestSettings({{"target", "5"}}, 10)->total, 5);
}

TEST(MetadataTest, WhatAdmissionRefusesIsToldByTheNameOfTheKey) {
  EXPECT_EQ(Error({{"window", "5s"}}), "window: expected 6s <= 5s <= 1h0m0s");
  EXPECT_EQ(Error({{"targetUtilizationPercentage", "0"}}),
            "targetUtilizationPercentage: expected 1 <= 0 <= 100");
  EXPECT_EQ(Error({{"target", "0.001"}}), "target: target 0.001 should be at least 0.01");
  EXPECT_EQ(Error({{"metric", "cpu"}}), "metric: invalid value: cpu");
  EXPECT_EQ(Error({{"metricAggregationAlgorithm", "mean"}}),
            "metricAggregationAlgorithm: invalid value: mean");
  EXPECT_EQ(Error({{"initialScale", "0"}}),
            "initialScale: invalid value: 0=0 not allowed by cluster");
  EXPECT_EQ(Error({{"activationScale", "1"}}),
            "activationScale: activation-scale=1 must be greater than 1");
  for (const char* const wrong : {"soon", "0s", "-5m"}) {
    EXPECT_EQ(Error({{"progressDeadline", wrong}}),
              "progressDeadline: must be a duration of a second or more");
  }
  EXPECT_EQ(Error({{"target", "NaN"}}), "target: must be a finite number");
  EXPECT_EQ(Error({{"window", "x"}, {"target", "y"}}),
            "window: invalid value: x\ntarget: invalid value: y");
}

TEST(MetadataTest, AnnotationsFillWhatIsAbsent) {
  TextMap metadata = {{"target", "50"}, {"window", " "}};
  AddAnnotations({{"autoscaling.knative.dev/target", "10"},
                  {"autoscaling.knative.dev/window", "40s"},
                  {"autoscaling.knative.dev/panicWindowPercentage", "20"},
                  {"autoscaling.knative.dev/scale-down-delay", "6s"},
                  {"autoscaling.knative.dev/min-scale", "3"},
                  {"serving.knative.dev/progress-deadline", "5m"}},
                 metadata);
  EXPECT_EQ(metadata, (TextMap{{"target", "50"},
                               {"window", "40s"},
                               {"panicWindowPercentage", "20"},
                               {"scaleDownDelay", "6s"},
                               {"progressDeadline", "5m"}}));
}

}  // namespace
}  // namespace flyball::scaler::knative
