#include "scaler/views/targets_text.h"

#include <gtest/gtest.h>

namespace flyball::scaler {
namespace {

MetricSpec Spec(MetricType type, const std::string& resource = "") {
  MetricSpec spec;
  spec.type = type;
  spec.resource = resource;
  return spec;
}

TargetAmount Amount(int64_t milli) { return MakeTargetAmount(kube::Quantity::FromMilli(milli)); }

MetricSpec WithAverage(MetricSpec spec, int64_t milli) {
  spec.target.average_value = Amount(milli);
  return spec;
}

MetricSpec WithValue(MetricSpec spec, int64_t milli) {
  spec.target.value = Amount(milli);
  return spec;
}

MetricSpec WithUtilization(MetricSpec spec, int32_t percent) {
  spec.target.average_utilization = percent;
  return spec;
}

MetricStatus Is(std::optional<int64_t> value_milli, std::optional<int64_t> average_milli,
                std::optional<int32_t> utilization = {}) {
  MetricStatus status;
  if (value_milli.has_value()) status.value = kube::Quantity::FromMilli(*value_milli);
  if (average_milli.has_value()) status.average_value = kube::Quantity::FromMilli(*average_milli);
  status.average_utilization = utilization;
  return status;
}

TEST(TargetsText, EachKindOfMetricAsKubectlWritesIt) {
  EXPECT_EQ(
      TargetsText({WithUtilization(Spec(MetricType::kResource, "cpu"), 60)}, {Is({}, 410, 82)}),
      "cpu: 82%/60%");
  EXPECT_EQ(TargetsText({WithAverage(Spec(MetricType::kContainerResource, "memory"), 1'000'000)},
                        {Is({}, 500'000, 5)}),
            "memory: 500/1k");
  EXPECT_EQ(TargetsText({WithAverage(Spec(MetricType::kPods), 50'000)}, {Is({}, 17'000)}), "17/50");
  EXPECT_EQ(TargetsText({WithValue(Spec(MetricType::kObject), 2'000)}, {Is(1'500, {})}), "1500m/2");
  EXPECT_EQ(TargetsText({WithAverage(Spec(MetricType::kExternal), 30'000)}, {Is(229'000, 57'250)}),
            "57250m/30 (avg)");
}

TEST(TargetsText, WhatHasNoValueIsUnknown) {
  const MetricSpec cpu = WithUtilization(Spec(MetricType::kResource, "cpu"), 60);
  EXPECT_EQ(TargetsText({cpu}, {}), "cpu: <unknown>/60%");
  EXPECT_EQ(TargetsText({WithAverage(Spec(MetricType::kPods), 50'000), cpu}, {MetricStatus()}),
            "<unknown>/50, cpu: <unknown>/60%");
}

TEST(TargetsText, OfMoreThanTwoTheRestIsCounted) {
  const MetricSpec pods = WithAverage(Spec(MetricType::kPods), 50'000);
  EXPECT_EQ(TargetsText({pods, pods, pods, pods}, {Is({}, 1'000), Is({}, 2'000), Is({}, 3'000)}),
            "1/50, 2/50 + 2 more...");
  EXPECT_EQ(TargetsText({}, {}), "<none>");
}

}  // namespace
}  // namespace flyball::scaler
