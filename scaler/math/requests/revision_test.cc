#include "scaler/math/requests/revision.h"

#include <gtest/gtest.h>

namespace flyball::scaler {
namespace {

absl::Time Second(double seconds) {
  return absl::FromUnixSeconds(1'700'000'000) + absl::Seconds(seconds);
}

bool Answers() { return true; }
bool IsSilent() { return false; }

// A revision that has been active, with one pod, since Second(0).
struct ActiveRevision {
  ActiveRevision() {
    front.exists = true;
    front.ready = true;
    front.mode = ServeMode::kServe;
    Step(0, 1, Answers);
    EXPECT_EQ(status.active, ConditionState::kTrue);
  }

  RevisionActions Step(double seconds, int32_t wanted, absl::FunctionRef<bool()> probe) {
    return StepRevision(settings,
                        {.now = Second(seconds), .wanted = wanted, .ready_pods = 1, .replicas = 1},
                        probe, front, status);
  }

  RequestSettings settings;
  FrontService front;
  RevisionStatus status;
};

TEST(StepRevisionTest, OnePodStaysForAStableWindow) {
  ActiveRevision revision;
  const RevisionActions actions = revision.Step(10, 0, Answers);
  EXPECT_EQ(revision.status.wanted, 1);
  EXPECT_FALSE(actions.replicas.has_value());
  ASSERT_EQ(actions.look_again.size(), 1u);
  EXPECT_EQ(actions.look_again[0], absl::Seconds(50));
}

TEST(StepRevisionTest, ZeroComesOnlyWithTheActivatorInThePath) {
  ActiveRevision revision;
  revision.Step(60, 0, Answers);
  EXPECT_EQ(revision.status.active, ConditionState::kFalse);
  EXPECT_EQ(revision.front.mode, ServeMode::kProxy);

  RevisionActions actions = revision.Step(95, 0, IsSilent);
  EXPECT_TRUE(actions.probe_on);
  EXPECT_FALSE(actions.replicas.has_value());

  actions = revision.Step(96, 0, Answers);
  EXPECT_EQ(actions.replicas, 0);
}

TEST(StepRevisionTest, RetentionHoldsTheLastPod) {
  ActiveRevision revision;
  revision.settings.pod_retention = absl::Seconds(100);
  revision.Step(60, 0, Answers);
  const RevisionActions actions = revision.Step(130, 0, Answers);
  EXPECT_FALSE(actions.replicas.has_value());
  ASSERT_EQ(actions.look_again.size(), 1u);
  EXPECT_EQ(actions.look_again[0], absl::Seconds(30));
}

TEST(StepRevisionTest, WhatIsUnknownChangesNothing) {
  ActiveRevision revision;
  const RevisionActions actions = revision.Step(500, -1, Answers);
  EXPECT_FALSE(actions.replicas.has_value());
  EXPECT_EQ(revision.status.active, ConditionState::kTrue);
  EXPECT_EQ(revision.status.wanted, 1);
}

TEST(StepRevisionTest, AnActivationThatTakesTooLongIsGivenUp) {
  RequestSettings settings;
  FrontService front;
  front.exists = true;
  RevisionStatus status;
  const auto step = [&](double seconds) {
    return StepRevision(settings, {.now = Second(seconds), .wanted = 0, .replicas = 1}, Answers,
                        front, status);
  };
  step(0);
  EXPECT_EQ(status.reason, "Queued");
  EXPECT_FALSE(step(630).replicas.has_value());
  EXPECT_EQ(step(631).replicas, 0);
  EXPECT_EQ(status.reason, "TimedOut");
}

}  // namespace
}  // namespace flyball::scaler
