#include "scaler/triggers/activation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace flyball::scaler {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

TriggerReading Active() { return {.value_milli = 40'000, .active = true}; }
TriggerReading Counting(int32_t replicas) {
  return {.value_milli = replicas * 1000, .active = true, .replicas = replicas};
}
TriggerReading Inactive() { return {.value_milli = 0}; }
TriggerReading ActivityOnly() { return {.error = "no value", .activity_only = true}; }
TriggerReading Unknown() { return {.error = "no answer"}; }

struct ActivationRow {
  std::string name;
  std::vector<TriggerReading> readings;
  int32_t current = 0;
  int32_t min = 0;
  std::optional<int> active_ago = {};  // seconds; absent: never
  ActivationStep step = ActivationStep::kFollowMetrics;
  int32_t replicas = 0;
  std::string reason = {};
  int cooldown = 300;
  int age = 3600;
};

class DecideActivationTest : public testing::TestWithParam<ActivationRow> {};

TEST_P(DecideActivationTest, Row) {
  const ActivationRow& row = GetParam();
  ActivationInput input{.readings = row.readings,
                        .current = row.current,
                        .min_replicas = row.min,
                        .max_replicas = 10,
                        .cooldown = absl::Seconds(row.cooldown),
                        .created = kNow - absl::Seconds(row.age),
                        .now = kNow};
  if (row.active_ago) input.last_active = kNow - absl::Seconds(*row.active_ago);
  const Activation got = DecideActivation(input);
  EXPECT_EQ(got.step, row.step) << got.message;
  EXPECT_EQ(got.replicas, row.replicas);
  EXPECT_EQ(got.reason, row.reason);
  EXPECT_EQ(got.active, row.reason == "ScalerActive");
  // Activity changes the remembered time at once; nothing else changes it.
  EXPECT_EQ(got.last_active, got.active ? kNow : input.last_active);
}

using enum ActivationStep;

INSTANTIATE_TEST_SUITE_P(
    Active, DecideActivationTest,
    testing::Values(ActivationRow{.name = "LeavesZero",
                                  .readings = {Active()},
                                  .step = kActivate,
                                  .replicas = 1,
                                  .reason = "ScalerActive"},
                    ActivationRow{.name = "LeavesZeroToWhatIsCounted",
                                  .readings = {Active(), Counting(4)},
                                  .min = 2,
                                  .step = kActivate,
                                  .replicas = 4,
                                  .reason = "ScalerActive"},
                    ActivationRow{.name = "LeavesZeroToTheMaximumAtMost",
                                  .readings = {Counting(40)},
                                  .step = kActivate,
                                  .replicas = 10,
                                  .reason = "ScalerActive"},
                    ActivationRow{.name = "LeavesZeroToTheMinimum",
                                  .readings = {Active()},
                                  .min = 2,
                                  .step = kActivate,
                                  .replicas = 2,
                                  .reason = "ScalerActive"},
                    ActivationRow{.name = "OneOfManyIsEnough",
                                  .readings = {Inactive(), Unknown(), Active()},
                                  .step = kActivate,
                                  .replicas = 1,
                                  .reason = "ScalerActive"},
                    ActivationRow{.name = "WithPodsTheMathDecides",
                                  .readings = {Active()},
                                  .current = 1,
                                  .reason = "ScalerActive"},
                    // KEDA leaves lastActiveTime alone here, and so enters zero too early later on.
                    ActivationRow{.name = "CountsAlthoughAnotherFails",
                                  .readings = {Unknown(), Active()},
                                  .current = 2,
                                  .active_ago = 299,
                                  .reason = "ScalerActive"}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(Inactive, DecideActivationTest,
                         testing::Values(ActivationRow{.name = "StaysAtZero",
                                                       .readings = {Inactive()},
                                                       .step = kWait,
                                                       .reason = "ScalerNotActive"},
                                         ActivationRow{.name = "EntersZeroAfterTheCooldown",
                                                       .readings = {Inactive()},
                                                       .current = 3,
                                                       .active_ago = 301,
                                                       .step = kDeactivate,
                                                       .reason = "ScalerNotActive"},
                                         ActivationRow{.name = "NeedsNoValueToEnterZero",
                                                       .readings = {Inactive(), ActivityOnly()},
                                                       .current = 3,
                                                       .active_ago = 301,
                                                       .step = kDeactivate,
                                                       .reason = "ScalerNotActive"},
                                         ActivationRow{.name = "TheCooldownsEndStillWaits",
                                                       .readings = {Inactive()},
                                                       .current = 3,
                                                       .active_ago = 300,
                                                       .reason = "ScalerCooldown"},
                                         ActivationRow{.name = "FollowsMetricsWhileCoolingDown",
                                                       .readings = {Inactive()},
                                                       .current = 3,
                                                       .active_ago = 100,
                                                       .reason = "ScalerCooldown"},
                                         ActivationRow{.name = "NeverActiveEntersZeroAtOnce",
                                                       .readings = {Inactive()},
                                                       .current = 1,
                                                       .step = kDeactivate,
                                                       .reason = "ScalerNotActive",
                                                       .age = 1},
                                         ActivationRow{.name = "MadeThisMomentWaits",
                                                       .readings = {Inactive()},
                                                       .current = 1,
                                                       .reason = "ScalerCooldown",
                                                       .age = 0},
                                         ActivationRow{.name = "NoCooldownStillNeedsAMoment",
                                                       .readings = {Inactive()},
                                                       .current = 1,
                                                       .active_ago = 0,
                                                       .reason = "ScalerCooldown",
                                                       .cooldown = 0},
                                         ActivationRow{.name = "AllMustBeInactive",
                                                       .readings = {Inactive(), Inactive()},
                                                       .current = 3,
                                                       .active_ago = 301,
                                                       .step = kDeactivate,
                                                       .reason = "ScalerNotActive"},
                                         ActivationRow{.name = "AMinimumKeepsThePods",
                                                       .readings = {Inactive()},
                                                       .current = 5,
                                                       .min = 2,
                                                       .active_ago = 86'400,
                                                       .reason = "ScalerNotActive"},
                                         ActivationRow{.name = "ZeroBelowTheMinimumIsLeft",
                                                       .readings = {Inactive()},
                                                       .min = 2,
                                                       .step = kActivate,
                                                       .replicas = 2,
                                                       .reason = "ScalerNotActive"},
                                         // The replica math raises the count to the minimum.
                                         ActivationRow{.name = "BelowTheMinimumWithPods",
                                                       .readings = {Inactive()},
                                                       .current = 1,
                                                       .min = 2,
                                                       .reason = "ScalerNotActive"}),
                         [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(Unknown, DecideActivationTest,
                         testing::Values(ActivationRow{.name = "NeverEntersZero",
                                                       .readings = {Inactive(), Unknown()},
                                                       .current = 3,
                                                       .active_ago = 86'400,
                                                       .reason = "TriggerError"},
                                         ActivationRow{.name = "NeverLeavesZero",
                                                       .readings = {Unknown()},
                                                       .step = kWait,
                                                       .reason = "TriggerError"},
                                         ActivationRow{.name = "NeverLeavesZeroForTheMinimum",
                                                       .readings = {Unknown()},
                                                       .min = 2,
                                                       .step = kWait,
                                                       .reason = "TriggerError"}),
                         [](const auto& info) { return info.param.name; });

TEST(TakeOverActivityTest, WhoWasActiveMayHaveBeenSoUntilNow) {
  const absl::Time stored = kNow - absl::Hours(1);
  EXPECT_EQ(TakeOverActivity(stored, /*maybe_active=*/true, kNow), kNow);
  EXPECT_EQ(TakeOverActivity(stored, /*maybe_active=*/false, kNow), stored + absl::Seconds(1));
  EXPECT_EQ(TakeOverActivity(kNow - absl::Milliseconds(300), false, kNow), kNow);
  EXPECT_EQ(TakeOverActivity(kNow + absl::Hours(1), false, kNow), kNow + absl::Hours(1));
  EXPECT_EQ(TakeOverActivity(std::nullopt, false, kNow), std::nullopt);
}

}  // namespace
}  // namespace flyball::scaler
