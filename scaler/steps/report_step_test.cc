#include "scaler/steps/report_step.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "scaler/math/recording.h"
#include "scaler/testing/test_status_world.h"

namespace flyball::scaler {
namespace {

// One autoscaler in mode act whose decisions a test makes up: each is reported at its time, and all
// that is due by then is written before the next.
class Reporting {
 public:
  explicit Reporting(absl::Duration pace, absl::Duration status_interval = absl::Seconds(15))
      : report_({hpa_events_, own_events_, *world.writer, world.owner, status_interval, {}}) {
    tracked_.inputs.mode = Mode::kAct;
    tracked_.pace = pace;
  }

  struct Decided {
    absl::Duration at;
    int32_t current = 0, desired = 0;
    std::string failure = {};  // reason of ScalingActive
    bool held = false;         // the removal has to wait
  };

  void Report(const Decided& decided) {
    LetPass(decided.at);
    tracked_.inputs.managed = world.Read();
    AutoscalerStatus status = tracked_.decided.status;
    status.current_replicas = decided.current;
    status.desired_replicas = decided.desired;
    SetCondition({.type = kAbleToScale, .reason = "ReadyForNewScale", .message = {}},
                 world.clock.WallNow(), status.conditions);
    const bool fails = !decided.failure.empty();
    SetCondition({.type = kScalingActive,
                  .status = fails ? ConditionStatus::kFalse : ConditionStatus::kTrue,
                  .reason = fails ? decided.failure : "ValidMetricFound",
                  .message = {}},
                 world.clock.WallNow(), status.conditions);
    tracked_.decided.decision.status_changed = !SemanticallyEqual(status, tracked_.decided.status);
    tracked_.decided.decision.status = std::move(status);
    tracked_.decided.decision.current = decided.current;
    tracked_.decided.decision.now = world.clock.WallNow();
    DecisionInput input;
    input.autoscaler = &tracked_.inputs.managed->autoscaler;
    input.status = &tracked_.decided.status;
    input.config = &config_;
    WriteOutcome write;
    if (decided.held) {
      write = {.kind = WriteOutcome::Kind::kHeld, .error = "the watch of pods fails"};
    }
    report_.Report(tracked_, input, write, world.clock.MonotonicNow());
    world.WriteAnother();
  }
  void LetPass(absl::Duration until) {
    world.clock.Advance(until - world.clock.MonotonicNow());
    world.writer->Release(world.clock.MonotonicNow());
    world.WriteAnother();
  }

  StatusWorld world;

 private:
  MathConfig config_;
  kube::EventRecorder hpa_events_{world.client, world.clock, "horizontal-pod-autoscaler"};
  kube::EventRecorder own_events_{world.client, world.clock, "flyball"};
  ReportStep report_;
  TrackedAutoscaler tracked_{AutoscalerKey{AutoscalerKind::kHpa, "shop", "web"}};
};

constexpr absl::Duration kSoon = absl::Seconds(1);
constexpr absl::Duration kLate = absl::Seconds(15);

struct WritesRow {
  const char* name;
  absl::Duration pace;
  std::vector<Reporting::Decided> decided;
  absl::Duration then;  // time passes until
  int writes;
};

class StatusWrites : public testing::TestWithParam<WritesRow> {};

// That the second decision's currentReplicas are the first one's desiredReplicas is a scale write
// with what became of it.
TEST_P(StatusWrites, AreSoMany) {
  const WritesRow& row = GetParam();
  Reporting reporting(row.pace);
  for (const Reporting::Decided& decided : row.decided) reporting.Report(decided);
  reporting.LetPass(row.then);
  EXPECT_EQ(reporting.world.Writes(), row.writes);
}

const absl::Duration kT = absl::Seconds(100);
const auto kMs = [](int count) { return kT + absl::Milliseconds(count); };

INSTANTIATE_TEST_SUITE_P(
    ReportStep, StatusWrites,
    testing::Values(
        WritesRow{"DecidedEachSecondAScaleWriteAndWhatBecameOfItAreOne",
                  kSoon,
                  {{kMs(0), 2, 4}, {kMs(1100), 4, 4}, {kMs(2000), 4, 4}},
                  kMs(9000),
                  1},
        WritesRow{
            "ItIsNotWrittenBeforeTheNextDecisionIsDue", kSoon, {{kMs(0), 2, 4}}, kMs(1249), 0},
        WritesRow{"ItIsWrittenSoonEvenIfNoOtherFollows", kSoon, {{kMs(0), 2, 4}}, kMs(1250), 1},
        WritesRow{"DecidedFiveTimesASecondARampIsOneWriteASecond",
                  absl::Milliseconds(200),
                  {{kMs(0), 1, 2},
                   {kMs(200), 2, 3},
                   {kMs(400), 3, 4},
                   {kMs(600), 4, 5},
                   {kMs(800), 5, 6},
                   {kMs(1000), 6, 7},
                   {kMs(1200), 7, 8},
                   {kMs(1400), 8, 9},
                   {kMs(1600), 9, 10},
                   {kMs(1800), 10, 10}},
                  kMs(9000),
                  2},
        WritesRow{"WhereTheNextIsLateNothingWaits", kLate, {{kMs(0), 2, 4}}, kMs(0), 1},
        WritesRow{"WhatFollowsAtOnceAllTheSameWaits",
                  kLate,
                  {{kMs(0), 2, 4}, {kMs(300), 4, 6}, {kMs(600), 6, 8}, {kMs(900), 8, 8}},
                  kMs(9000),
                  2},
        WritesRow{"AFailureIsWrittenAtOnceWithWhatWaited",
                  kSoon,
                  {{kMs(0), 2, 4}, {kMs(1000), 4, 4, "FailedGetExternalMetric"}},
                  kMs(1000),
                  1},
        WritesRow{
            "AnotherFailureToo",
            kSoon,
            {{kMs(0), 2, 2, "FailedGetExternalMetric"}, {kMs(300), 2, 2, "FailedGetPodsMetric"}},
            kMs(300),
            2},
        WritesRow{"TheSameFailureAgainDoesNot",
                  kSoon,
                  {{kMs(0), 2, 2, "FailedGetExternalMetric"},
                   {kMs(1000), 2, 2, "FailedGetExternalMetric"}},
                  kMs(9000),
                  1},
        WritesRow{"ARecoveryWaits",
                  kSoon,
                  {{kMs(0), 2, 2, "FailedGetExternalMetric"}, {kMs(300), 2, 2}},
                  kMs(1300),
                  1}),
    [](const auto& row) { return row.param.name; });

TEST(ReportStep, OnlyARemovalThatWaitsForLongIsInTheStatus) {
  Reporting reporting(kLate);
  reporting.Report({kMs(0), 8, 8});
  ASSERT_EQ(reporting.world.Writes(), 1);
  reporting.Report({kMs(15'000), 8, 3, "", /*held=*/true});
  EXPECT_EQ(reporting.world.Writes(), 1);
  reporting.Report({kMs(30'000), 8, 3, "", /*held=*/true});
  EXPECT_EQ(reporting.world.Writes(), 2);
  EXPECT_TRUE(reporting.world.Desires(8)) << reporting.world.Stored();
  EXPECT_TRUE(absl::StrContains(reporting.world.Stored(), "ScaleDownHeld"));
  EXPECT_TRUE(absl::StrContains(reporting.world.Stored(), "the watch of pods fails"));
}

TEST(ReportStep, ARemovalThatIsStillHeldIsNoTransition) {
  Reporting reporting(kLate);
  const auto held_since = [&]() -> std::optional<absl::Time> {
    const ManagedPtr stored = reporting.world.Read();
    const Condition* const able = FindCondition(kAbleToScale, stored->autoscaler.status.conditions);
    if (able == nullptr || able->reason != "ScaleDownHeld") return std::nullopt;
    return able->last_transition_time;
  };
  for (const int at : {0, 15'000}) reporting.Report({kMs(at), 8, 3, "", /*held=*/true});
  const std::optional<absl::Time> first = held_since();
  ASSERT_TRUE(first.has_value()) << reporting.world.Stored();
  for (const int at : {30'000, 45'000}) {
    reporting.Report({kMs(at), 8, 3, "", /*held=*/true});
    EXPECT_EQ(held_since(), first);
  }
}

TEST(ReportStep, WithoutAStatusIntervalEachStatusIsWritten) {
  Reporting reporting(kSoon, absl::ZeroDuration());
  reporting.Report({kMs(0), 2, 4});
  EXPECT_EQ(reporting.world.Writes(), 1);
  reporting.Report({kMs(1000), 4, 4});
  EXPECT_EQ(reporting.world.Writes(), 2);
}

TEST(ReportStep, TheNewestStatusIsWhatIsWritten) {
  Reporting reporting(kSoon);
  reporting.Report({kMs(0), 2, 4});
  reporting.Report({kMs(1000), 4, 6});
  reporting.LetPass(kMs(1250));
  EXPECT_EQ(reporting.world.Writes(), 1);
  EXPECT_TRUE(reporting.world.Desires(6)) << reporting.world.Stored();
}

}  // namespace
}  // namespace flyball::scaler
