#include "doctor/autoscaler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace flyball::doctor {
namespace {

using testing::HasSubstr;

scaler::Dialect Of(int minor, const scaler::GateSettings& gates = {}) {
  return scaler::DialectOf(scaler::ServerVersion{.minor = minor, .emulated_minor = {}}, gates);
}

// shop/web, an HPA on a queue, whose target may be scaled to zero and is.
AutoscalerFacts Asleep(const scaler::Dialect& dialect) {
  AutoscalerFacts facts;
  facts.key.ns = "shop";
  facts.key.name = "web";
  facts.dialect = dialect;
  facts.autoscaler.scale_target = {"apps/v1", "Deployment", "web"};
  facts.autoscaler.min_replicas = 0;
  facts.autoscaler.metrics.emplace_back().type = scaler::MetricType::kExternal;
  facts.scale = kube::Scale();
  return facts;
}

void Say(const char* type, bool on, AutoscalerFacts& facts) {
  scaler::Condition& condition = facts.autoscaler.status.conditions.emplace_back();
  condition.type = type;
  condition.status = on ? scaler::ConditionStatus::kTrue : scaler::ConditionStatus::kFalse;
}

TEST(CheckAtZero, UpTo135MetricsWakeWhateverPutItToSleep) {
  EXPECT_EQ(CheckAtZero(Asleep(Of(34))).level, Level::kGood);
  EXPECT_EQ(CheckAtZero(Asleep(Of(35))).level, Level::kGood);
}

TEST(CheckAtZero, ATargetWithoutTheConditionIsNamed) {
  const Finding found = CheckAtZero(Asleep(Of(37)));
  EXPECT_EQ(found.level, Level::kDoubtful);
  EXPECT_THAT(found.text, HasSubstr("without the condition ScaledToZero=True: the controller of "
                                    "Kubernetes 1.37 takes it for switched off"));
  EXPECT_THAT(found.fix, HasSubstr("scale Deployment web to 1 or more"));
  EXPECT_THAT(found.fix, HasSubstr("kubectl -n shop patch hpa web --subresource=status"));
}

TEST(CheckAtZero, ItsConditionIsAddedToThoseThatThereAre) {
  AutoscalerFacts facts = Asleep(Of(37));
  EXPECT_THAT(CheckAtZero(facts).fix,
              HasSubstr(R"("path":"/status/conditions","value":[{"type":"ScaledToZero",)"));
  EXPECT_THAT(CheckAtZero(facts).fix, HasSubstr(R"(to zero"}]}]')"));
  Say("ScalingActive", true, facts);
  EXPECT_THAT(CheckAtZero(facts).fix,
              HasSubstr(R"("path":"/status/conditions/-","value":{"type":"ScaledToZero",)"));
  EXPECT_THAT(CheckAtZero(facts).fix, HasSubstr(R"(to zero"}}]')"));
}

TEST(CheckAtZero, TriggersWakeATarget) {
  AutoscalerFacts facts = Asleep(Of(37));
  facts.key.kind = scaler::AutoscalerKind::kOwn;
  EXPECT_EQ(CheckAtZero(facts).level, Level::kDoubtful);
  facts.own.triggers.emplace_back();
  EXPECT_EQ(CheckAtZero(facts).level, Level::kGood);
}

TEST(CheckAtZero, OneThatAnOlderControllerPutToSleepIsToldFromAPersons) {
  AutoscalerFacts facts = Asleep(Of(37));
  Say("ScalingActive", true, facts);
  EXPECT_THAT(CheckAtZero(facts).text, HasSubstr("put there by a controller older than 1.36"));
  facts.autoscaler.status.desired_replicas = 4;
  EXPECT_THAT(CheckAtZero(facts).text, testing::Not(HasSubstr("older than")));
}

TEST(CheckAtZero, OneThatSleepsByTheConditionIsGood) {
  AutoscalerFacts facts = Asleep(Of(37));
  Say("ScaledToZero", true, facts);
  EXPECT_EQ(CheckAtZero(facts).level, Level::kGood);
  facts.autoscaler.min_replicas = 3;
  EXPECT_EQ(CheckAtZero(facts).level, Level::kGood) << "it wakes to the minimum";
  facts.autoscaler.status.conditions[0].status = scaler::ConditionStatus::kFalse;
  EXPECT_EQ(CheckAtZero(facts).level, Level::kDoubtful);
}

TEST(CheckAtZero, WithTheGateOffZeroIsNeverLeft) {
  AutoscalerFacts facts = Asleep(Of(36));
  Say("ScaledToZero", true, facts);
  EXPECT_THAT(CheckAtZero(facts).text, HasSubstr("1.36 never leaves while HPAScaleToZero is off"));
  facts.dialect = Of(36, {{"HPAScaleToZero", true}});
  EXPECT_EQ(CheckAtZero(facts).level, Level::kGood);
}

TEST(CheckAtZero, WithoutAMetricThatSeesLoadItIsSwitchedOff) {
  for (const int minor : {34, 37}) {
    AutoscalerFacts facts = Asleep(Of(minor));
    facts.autoscaler.metrics[0].type = scaler::MetricType::kResource;
    EXPECT_THAT(CheckAtZero(facts).text, HasSubstr("the HPA controller leaves it there"));
  }
}

// A target that woke keeps the condition as False.
TEST(CheckAutoscaler, AConditionThatSaysNotScaledToZeroIsNoFault) {
  AutoscalerFacts facts = Asleep(Of(37));
  facts.scale->spec_replicas = 2;
  Say("ScaledToZero", false, facts);
  for (const Finding& finding : CheckAutoscaler(facts, absl::UnixEpoch())) {
    EXPECT_THAT(finding.text, testing::Not(HasSubstr("ScaledToZero")));
  }
}

}  // namespace
}  // namespace flyball::doctor
