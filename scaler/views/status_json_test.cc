#include "scaler/views/status_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "scaler/stores/autoscaler_store.h"

namespace flyball::scaler {
namespace {

constexpr absl::Time kNow = absl::FromUnixSeconds(1767225600);

TEST(StatusPatch, WhatIsGoneIsNull) {
  AutoscalerStatus status;
  status.current_replicas = 2;
  EXPECT_EQ(StatusPatch("7", status, nullptr),
            R"({"metadata":{"resourceVersion":"7"},"status":{"observedGeneration":null,)"
            R"("lastScaleTime":null,"currentReplicas":2,"desiredReplicas":0,)"
            R"("currentMetrics":null,"conditions":null}})");
}

TEST(StatusPatch, IsReadBackAsItWasWritten) {
  AutoscalerStatus status;
  status.last_scale_time = kNow;
  status.current_replicas = 2;
  status.desired_replicas = 3;
  status.conditions = {{.type = "AbleToScale",
                        .status = ConditionStatus::kTrue,
                        .reason = "SucceededRescale",
                        .message = "text with \"quotes\"",
                        .last_transition_time = kNow,
                        .observed_generation = std::nullopt}};
  const auto metric = [&](MetricType type) -> MetricStatus& {
    MetricStatus& out = status.current_metrics.emplace_back();
    out.type = type;
    out.type_text = std::string(MetricTypeName(type));
    return out;
  };
  MetricStatus& resource = metric(MetricType::kResource);
  resource.resource = "cpu";
  resource.average_utilization = 55;
  resource.average_value = *kube::Quantity::Parse("550m");
  MetricStatus& container = metric(MetricType::kContainerResource);
  container.resource = "memory";
  container.container = "app";
  container.average_value = *kube::Quantity::Parse("90Mi");
  MetricStatus& pods = metric(MetricType::kPods);
  pods.metric_name = "rps";
  pods.metric_selector = LabelSelector{.match_labels = {{"a", "b"}}, .match_expressions = {}};
  pods.average_value = *kube::Quantity::Parse("15");
  MetricStatus& object = metric(MetricType::kObject);
  object.metric_name = "hits";
  object.described_object = {"v1", "Service", "front"};
  object.value = *kube::Quantity::Parse("90");
  metric(MetricType::kExternal).metric_name = "queue";
  status.current_metrics.emplace_back();  // of a metric that failed

  const auto patch = nlohmann::json::parse(StatusPatch("7", status, nullptr));
  nlohmann::json hpa = {
      {"apiVersion", "autoscaling/v2"},
      {"kind", "HorizontalPodAutoscaler"},
      {"metadata", {{"namespace", "shop"}, {"name", "web"}}},
      {"spec",
       {{"maxReplicas", 3}, {"scaleTargetRef", {{"kind", "Deployment"}, {"name", "web"}}}}}};
  hpa.merge_patch(patch);
  const ManagedPtr read = ReadManaged(AutoscalerKind::kHpa, hpa.dump());
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(read->refused, "");
  EXPECT_TRUE(SemanticallyEqual(read->autoscaler.status, status)) << hpa.dump(1);
}

TEST(StatusPatch, OurOwnKindSaysMore) {
  OwnStatus own;
  own.last_active = kNow;
  own.triggers = {
      {.type = "cron", .name = "day", .active = true, .value_milli = 1500, .error = ""},
      {.type = "prometheus", .name = "", .active = false, .value_milli = {}, .error = "down"}};
  Decision decision;
  decision.outcome = Outcome::kDecided;
  decision.current = 4;
  decision.recommendation = 9;
  decision.proposals.resize(1);
  decision.proposals[0].name = "external metric queue(nil)";
  decision.combination.emplace().winner = 0;
  decision.limiting.emplace().by = LimitedBy::kMaxReplicas;
  own.last_decision = DecisionStatusOf(decision);
  own.mode = "Act";
  own.targets = "17/50";
  const auto patch = nlohmann::json::parse(StatusPatch("7", AutoscalerStatus(), &own));
  EXPECT_EQ(patch["status"]["lastDecision"].dump(),
            R"x({"desiredReplicas":4,"metric":"external metric queue(nil)",)x"
            R"x("reason":"max_replicas","unboundedReplicas":9})x");
  EXPECT_EQ(patch["status"]["mode"], "Act");
  EXPECT_EQ(patch["status"]["targets"], "17/50");
  EXPECT_EQ(patch["status"]["lastActiveTime"], "2026-01-01T00:00:00Z");
  EXPECT_EQ(patch["status"]["triggers"].dump(),
            R"([{"active":true,"name":"day","type":"cron","value":"1500m"},)"
            R"({"active":false,"error":"down","type":"prometheus"}])");
}

TEST(CaredDigest, ChangesWithWhatAPersonCaresAbout) {
  AutoscalerStatus status;
  status.conditions = {{.type = "AbleToScale",
                        .status = ConditionStatus::kTrue,
                        .reason = "A",
                        .message = "m",
                        .last_transition_time = kNow,
                        .observed_generation = std::nullopt}};
  const uint64_t digest = CaredDigest(status, 1);
  AutoscalerStatus same = status;
  same.conditions[0].message = "another";
  same.current_metrics.emplace_back();
  EXPECT_EQ(CaredDigest(same, 1), digest);
  EXPECT_NE(CaredDigest(same, 2), digest);
  EXPECT_NE(CaredDigest(same, std::nullopt), digest);
  AutoscalerStatus other = status;
  other.conditions[0].reason = "B";
  EXPECT_NE(CaredDigest(other, 1), digest);
  other = status;
  other.desired_replicas = 4;
  EXPECT_NE(CaredDigest(other, 1), digest);
}

TEST(FailureDigest, IsOfWhatCannotBeScaled) {
  AutoscalerStatus status;
  const auto with = [&](const char* type, ConditionStatus is, const char* reason) {
    AutoscalerStatus out = status;
    out.conditions.push_back({.type = type,
                              .status = is,
                              .reason = reason,
                              .message = "m",
                              .last_transition_time = kNow,
                              .observed_generation = std::nullopt});
    return FailureDigest(out);
  };
  EXPECT_EQ(FailureDigest(status), 0u);
  EXPECT_EQ(with("AbleToScale", ConditionStatus::kTrue, "SucceededRescale"), 0u);
  EXPECT_EQ(with("ScalingLimited", ConditionStatus::kFalse, "DesiredWithinRange"), 0u);
  EXPECT_EQ(with("Active", ConditionStatus::kFalse, "CoolingDown"), 0u);
  const uint64_t failing = with("ScalingActive", ConditionStatus::kFalse, "FailedGetPodsMetric");
  EXPECT_NE(failing, 0u);
  EXPECT_NE(with("ScalingActive", ConditionStatus::kFalse, "InvalidSelector"), failing);
  EXPECT_NE(with("AbleToScale", ConditionStatus::kFalse, "FailedGetPodsMetric"), failing);
}

TEST(ResourceVersionOf, IsThatOfTheMetadata) {
  EXPECT_EQ(ResourceVersionOf(R"({"metadata":{"resourceVersion":"9"}})"), "9");
  for (const char* text : {"", "[]", "{}", R"({"metadata":{}})", R"({"metadata":[]})"}) {
    EXPECT_EQ(ResourceVersionOf(text), "") << text;
  }
}

}  // namespace
}  // namespace flyball::scaler
