#include "scaler/questions/plan.h"

#include <gtest/gtest.h>

#include <memory>

#include "scaler/stores/autoscaler_store.h"
#include "scaler/triggers/parts/clients.h"

namespace flyball::scaler {
namespace {

// What a plan needs; everything runs at once where it is asked for.
struct Surroundings {
  SimulatedClock clock{absl::FromUnixSeconds(1767225600)};
  QuestionBoard board{clock, [](absl::Span<AnswerWaiter* const>) {}};
  const QuestionBoard::Run run = [](std::function<void()> task) { task(); };
  Lanes lanes{run, {.threads = 1, .of_server = 1}};
  PlanContext context{.board = board,
                      .run_reads = run,
                      .trigger_lanes = lanes,
                      .clock = clock,
                      .triggers = {.ns = "",
                                   .autoscaler = "",
                                   .count_pods = {},
                                   .read_secret = {},
                                   .clients = std::make_shared<TriggerClients>(clock)}};
};

ManagedPtr Web() {
  return ReadManaged(AutoscalerKind::kOwn,
                     R"({"apiVersion":"flyball.dev/v1alpha1","kind":"Autoscaler","metadata":{
      "namespace":"shop","name":"web"},"spec":{"maxReplicas":9,"scaleTargetRef":{
      "apiVersion":"apps/v1","kind":"Deployment","name":"web"},"triggers":[{"type":"cron",
      "metadata":{"timezone":"UTC","start":"0 8 * * *","end":"0 18 * * *",
      "desiredReplicas":"3"}}]}})");
}

TEST(Plan, DropEndsTheTriggers) {
  Surroundings around;
  Plan plan;
  plan.Follow(Web(), around.context, [] {});
  ASSERT_EQ(plan.triggers().size(), 1u);
  ASSERT_EQ(plan.triggers()[0].error, "");
  const std::weak_ptr<Trigger> trigger = plan.triggers()[0].trigger;
  ASSERT_FALSE(trigger.expired());
  plan.Drop();
  EXPECT_TRUE(trigger.expired());
  EXPECT_TRUE(plan.triggers().empty());
}

TEST(Plan, WhatIsFollowedAfterADropIsAnotherVersion) {
  Surroundings around;
  Plan plan;
  const ManagedPtr web = Web();
  plan.Follow(web, around.context, [] {});
  const uint64_t before = plan.version();
  plan.Follow(web, around.context, [] {});
  EXPECT_EQ(plan.version(), before);
  plan.Drop();
  plan.Follow(web, around.context, [] {});
  EXPECT_NE(plan.version(), before);
  EXPECT_EQ(plan.triggers().size(), 1u);
}

}  // namespace
}  // namespace flyball::scaler
