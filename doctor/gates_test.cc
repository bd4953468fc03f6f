#include "doctor/gates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace flyball::doctor {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

AutoscalerFacts Of(int minor, const scaler::GateSettings& gates = {}) {
  AutoscalerFacts facts;
  facts.dialect =
      scaler::DialectOf(scaler::ServerVersion{.minor = minor, .emulated_minor = {}}, gates);
  facts.autoscaler.behavior.emplace();
  facts.autoscaler.min_replicas = 1;
  return facts;
}

TEST(CheckGates, AToleranceThatDoesNotCountIsNamed) {
  EXPECT_THAT(CheckGates(Of(34)), IsEmpty());
  AutoscalerFacts facts = Of(34);
  facts.autoscaler.behavior->scale_up.tolerance.emplace();
  EXPECT_THAT(CheckGates(facts),
              ElementsAre(Field(&Finding::text, HasSubstr("the tolerance under spec.behavior does "
                                                          "not count: the controller of "
                                                          "Kubernetes 1.34 has"))));
  facts.dialect = Of(34, {{"HPAConfigurableTolerance", true}}).dialect;
  EXPECT_THAT(CheckGates(facts), IsEmpty());
  facts.dialect = Of(37).dialect;
  EXPECT_THAT(CheckGates(facts), IsEmpty());
}

TEST(WithShownGates, AnHpasConditionShowsItsGate) {
  const scaler::ServerVersion server{.minor = 36, .emulated_minor = {}};
  const auto managed = std::make_shared<scaler::Managed>();
  const std::vector<scaler::ManagedPtr> listed = {managed};
  EXPECT_THAT(WithShownGates({}, server, listed).gates, IsEmpty());
  managed->autoscaler.status.conditions.emplace_back().type = "ScaledToZero";
  EXPECT_EQ(WithShownGates({}, server, listed).gates.count("HPAScaleToZero"), 1u);
  managed->key.kind = scaler::AutoscalerKind::kOwn;
  EXPECT_THAT(WithShownGates({}, server, listed).gates, IsEmpty());
}

TEST(CheckGates, ATargetThatNobodyWouldWakeIsNamed) {
  for (const int minor : {34, 35, 37}) {
    AutoscalerFacts facts = Of(minor);
    facts.autoscaler.min_replicas = 0;
    EXPECT_THAT(CheckGates(facts), IsEmpty()) << minor;
  }
  AutoscalerFacts facts = Of(36);
  facts.autoscaler.min_replicas = 0;
  EXPECT_THAT(CheckGates(facts),
              ElementsAre(Field(&Finding::text, HasSubstr("once at zero the target is never"))));
  facts.key.kind = scaler::AutoscalerKind::kOwn;
  EXPECT_THAT(CheckGates(facts), IsEmpty());
}

}  // namespace
}  // namespace flyball::doctor
