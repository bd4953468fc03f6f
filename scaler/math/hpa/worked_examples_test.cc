// Decisions computed by the controller of Kubernetes 1.34.4; the number in a row's name is its
// place in that list, so that rows can be talked about.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scaler/math/hpa/testing/test_world.h"

namespace flyball::scaler {
namespace {

constexpr int32_t kMin32 = std::numeric_limits<int32_t>::min();
constexpr int32_t kMax32 = std::numeric_limits<int32_t>::max();
constexpr int32_t kFails = -77;  // the metric is invalid

struct WorkedExamplesRow {
  std::string name;
  TestWorld world;
  std::vector<int32_t> proposals;
  int32_t written = 0;  // the scale after the tick
  std::string able;
  std::string limited;  // with `!` when the condition is True; "" when not set
};

std::string Reason(const Decision& decision, absl::string_view type, bool mark) {
  for (const Condition& condition : decision.status.conditions) {
    if (condition.type != type) continue;
    return absl::StrCat(condition.reason,
                        mark && condition.status == ConditionStatus::kTrue ? "!" : "");
  }
  return "";
}

std::vector<int32_t> Proposed(const Decision& decision) {
  std::vector<int32_t> out;
  for (const Proposal& proposal : decision.proposals) {
    out.push_back(proposal.valid ? proposal.replicas : kFails);
  }
  return out;
}

class DecideTest : public testing::TestWithParam<WorkedExamplesRow> {};

TEST_P(DecideTest, Row) {
  const WorkedExamplesRow& row = GetParam();
  const Decision got = row.world.Decide();
  EXPECT_EQ(Proposed(got), row.proposals);
  EXPECT_EQ(got.rescaled ? got.desired : got.current, row.written);
  EXPECT_EQ(Reason(got, "AbleToScale", false), row.able);
  EXPECT_EQ(Reason(got, "ScalingLimited", true), row.limited);
}

TestWorld W() { return TestWorld(); }
const auto NameOf = [](const auto& info) { return info.param.name; };

constexpr char kReady[] = "ReadyForNewScale";
constexpr char kDown[] = "ScaleDownStabilized";
constexpr char kUp[] = "ScaleUpStabilized";
constexpr char kRescaled[] = "SucceededRescale";
constexpr char kGot[] = "SucceededGetScale";
constexpr char kFree[] = "DesiredWithinRange";

const TestPod kMissing{};
const TestPod kDeleting{.sample = 90000, .deleting = true};
const TestPod kFailed{.phase = PodPhase::kFailed};
const TestPod kPending{.phase = PodPhase::kPending};
const TestPod kSucceeded{.phase = PodPhase::kSucceeded};
TestPod Unready(int64_t sample) {
  return {.sample = sample, .ready = ConditionStatus::kFalse};  // and never was ready
}

// One row a claim; the formatter would give each field a line.
// clang-format off
INSTANTIATE_TEST_SUITE_P(
    PerPodTargets, DecideTest,
    testing::Values(
        WorkedExamplesRow{"N001RatioOne",
            W().Replicas(3).Pods(3, 500).Utilization("cpu", 50), {3}, 3, kReady, kFree},
        // 55/50 is 1.1, and both ends of the band belong to it.
        WorkedExamplesRow{"N002UpperEndIsInside",
            W().Replicas(3).Pods(3, 550).Utilization("cpu", 50), {3}, 3, kReady, kFree},
        // 1.12 * 3 = 3.36
        WorkedExamplesRow{"N003RoundsUp",
            W().Replicas(3).Pods(3, 560).Utilization("cpu", 50), {4}, 4, kRescaled, kFree},
        WorkedExamplesRow{"N004LowerEndIsInside",
            W().Replicas(3).Pods(3, 450).Utilization("cpu", 50), {3}, 3, kReady, kFree},
        // 0.88 * 10 = 8.8; the start size holds 10.
        WorkedExamplesRow{"N005StartSizeHolds",
            W().Replicas(10).Pods(10, 440).Utilization("cpu", 50), {9}, 10, kDown, kFree},
        // 55.99 % is cut to 55 % first.
        WorkedExamplesRow{"N006PercentIsCut",
            W().Replicas(10).Pods(1, 559).Pods(9, 560).Utilization("cpu", 50),
            {10}, 10, kReady, kFree},
        WorkedExamplesRow{"N007MeanIsNotCutToPercent",
            W().Replicas(10).Pods(1, 559).Pods(9, 560).ResourceAverage("cpu", "500m"),
            {12}, 12, kRescaled, kFree},
        WorkedExamplesRow{"N008MeanIsCutToThousandths",
            W().Replicas(3).Pods(2, 550).Pods(1, 551).ResourceAverage("cpu", "500m"),
            {3}, 3, kReady, kFree},
        // 290/70 * 7 is 29, its double product a hair above.
        WorkedExamplesRow{"N010DoubleProductDecides",
            W().Replicas(7).Pods(7, 290000).PodsMetric("70"), {30}, 14, kRescaled, "ScaleUpLimit!"},
        WorkedExamplesRow{"N011Zero", W().Replicas(4).Pods(4, 0).PodsMetric("10"), {0}, 4, kDown, kFree},
        WorkedExamplesRow{"N012NegativeIsNoCount",
            W().Replicas(2).Pods(2, -30000).PodsMetric("10"), {-6}, 2, kDown, kFree},
        // (300 + 1000) / 4000 = 32 % -> 0.64 * 4
        WorkedExamplesRow{"N013MissingCountsFullyDownwards",
            W().Replicas(4).Pods(3, 100).With(kMissing).Utilization("cpu", 50),
            {3}, 4, kDown, kFree},
        // (300 + 3000) / 4000 = 82 % -> 82/300 * 4
        WorkedExamplesRow{"N014MissingCountsAtAHighTarget",
            W().Replicas(4).Pods(3, 100).With(kMissing).Utilization("cpu", 300),
            {2}, 4, kDown, kFree},
        WorkedExamplesRow{"N015MissingCountsAtTarget",
            W().Replicas(4).Pods(3, 20000).With(kMissing).PodsMetric("100"), {2}, 4, kDown, kFree},
        // 2700/4000 = 67 % -> 1.34 * 4
        WorkedExamplesRow{"N016MissingIsZeroUpwards",
            W().Replicas(4).Pods(3, 900).With(kMissing).Utilization("cpu", 50),
            {6}, 6, kRescaled, kFree},
        WorkedExamplesRow{"N017MayNotFlip",
            W().Replicas(4).Pods(1, 600).With(kMissing).With(kMissing).With(kMissing).Utilization( "cpu", 50),
            {4}, 4, kReady, kFree},
        WorkedExamplesRow{"N018RatioOneFillsNothing",
            W().Replicas(4).Pods(3, 500).With(kMissing).Utilization("cpu", 50),
            {4}, 4, kReady, kFree},
        WorkedExamplesRow{"N019ToleranceIsNotAskedFirst",
            W().Replicas(3).Pods(2, 525).With(kMissing).Utilization("cpu", 50),
            {3}, 3, kReady, kFree},
        // 1800/3000 = 60 % -> 1.2 * 3
        WorkedExamplesRow{"N020UnreadyIsZeroUpwards",
            W().Replicas(3).Pods(2, 900).With(Unready(100)).Utilization("cpu", 50),
            {4}, 4, kRescaled, kFree},
        WorkedExamplesRow{"N021UnreadyIsLeftOutDownwards",
            W().Replicas(3).Pods(2, 100).With(Unready(100)).Utilization("cpu", 50),
            {1}, 3, kDown, kFree},
        WorkedExamplesRow{"N022BothAsZero",
            W().Replicas(4).Pods(2, 900).With(Unready(900)).With(kMissing).Utilization("cpu", 50),
            {4}, 4, kReady, kFree},
        WorkedExamplesRow{"N023NoUsableSample",
            W().Replicas(2).With(Unready(900)).With(Unready(900)).Utilization("cpu", 50),
            {kFails}, 2, kGot, ""},
        // 90Mi of 100Mi each: 1.8 * 3; readiness is a matter of cpu.
        WorkedExamplesRow{"N024MemoryIgnoresReadiness",
            W().Replicas(3).Pods(2, Milli("90Mi")).With(Unready(Milli("90Mi"))).Utilization("memory", 50),
            {6}, 6, kRescaled, kFree},
        // 40/3 = 13333m -> 1.3333 * 3
        WorkedExamplesRow{"N025PendingIsUnreadyForAll",
            W().Replicas(3).Pods(2, 20000).With(kPending).PodsMetric("10"),
            {4}, 4, kRescaled, kFree},
        WorkedExamplesRow{"N026SucceededIsMissing",
            W().Replicas(3).Pods(2, 20000).With(kSucceeded).PodsMetric("10"),
            {4}, 4, kRescaled, kFree},
        WorkedExamplesRow{"N027FailedAndDeletingAreIgnored",
            W().Replicas(3).Pods(2, 20000).With(kFailed).With(kDeleting).PodsMetric("10"),
            {4}, 4, kRescaled, kFree},
        WorkedExamplesRow{"N028NoDirectionCheckOnTheDirectPath",
            W().Replicas(10).Pods(2, 1000).Utilization("cpu", 50), {4}, 10, kDown, kFree},
        WorkedExamplesRow{"N029DirectionCheckOnTheRefillPath",
            W().Replicas(10).Pods(2, 1000).With(kPending).Utilization("cpu", 50),
            {10}, 10, kReady, kFree},
        WorkedExamplesRow{"N030StrangersEnterTheMean",
            W().Replicas(2).Pods(2, 100000).Stranger(400000).PodsMetric("100"),
            {4}, 4, kRescaled, kFree},
        // The stranger is skipped in 60 % but counted in 1.2 * 4.
        WorkedExamplesRow{"N031StrangersEnterTheMultiplier",
            W().Replicas(3).Pods(2, 900).With(kMissing).Stranger(900).Utilization("cpu", 50),
            {5}, 5, kRescaled, kFree},
        WorkedExamplesRow{"N040OneRequestMissing",
            W().Replicas(2).Pods(1, 900).With({.sample = 900, .cpu = std::nullopt}).Utilization("cpu", 50),
            {kFails}, 2, kGot, ""},
        WorkedExamplesRow{"N041RequestsOfZero",
            W().Replicas(2).With({.sample = 900, .cpu = "0"}).With({.sample = 900, .cpu = "0"}).Utilization("cpu", 50),
            {kFails}, 2, kGot, ""}),
    NameOf);
// clang-format on

// Two pods at 900m, target 50 %, one steady and one as described: 4 means that it counted as ready.
TestWorld SteadyAnd(TestPod pod) {
  pod.sample = 900;
  return W().Replicas(2).Pods(1, 900).With(std::move(pod)).Utilization("cpu", 50);
}

// clang-format off
INSTANTIATE_TEST_SUITE_P(
    Readiness, DecideTest,
    testing::Values(
        WorkedExamplesRow{"N032SampleOneWindowAfterReady",
            SteadyAnd({.age_seconds = 120, .ready_since_seconds = 60, .sample_age_seconds = 30}),
            {4}, 4, kRescaled, kFree},
        WorkedExamplesRow{"N033SampleOneSecondShort",
            SteadyAnd({.age_seconds = 120, .ready_since_seconds = 60, .sample_age_seconds = 31}),
            {2}, 2, kReady, kFree},
        WorkedExamplesRow{"N034PeriodIsOverAtEquality",
            SteadyAnd({.age_seconds = 300, .ready_since_seconds = 5, .sample_age_seconds = 60}),
            {4}, 4, kRescaled, kFree},
        WorkedExamplesRow{"N035NotReadySinceTheDelayCounts",
            SteadyAnd({.ready = ConditionStatus::kFalse, .ready_since_seconds = 3570}),
            {4}, 4, kRescaled, kFree},
        WorkedExamplesRow{"N036NeverWasReady",
            SteadyAnd({.ready = ConditionStatus::kFalse, .ready_since_seconds = 3571}),
            {2}, 2, kReady, kFree},
        WorkedExamplesRow{"N037UnknownIsNotFalse",
            SteadyAnd({.age_seconds = 60, .ready = ConditionStatus::kUnknown,
                       .ready_since_seconds = 55, .sample_age_seconds = 20}),
            {4}, 4, kRescaled, kFree},
        WorkedExamplesRow{"N038NoStartTime", SteadyAnd({.age_seconds = std::nullopt}), {2}, 2, kReady, kFree},
        WorkedExamplesRow{"N039NoReadyCondition",
            SteadyAnd({.ready_since_seconds = std::nullopt}), {2}, 2, kReady, kFree}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Totals, DecideTest,
    testing::Values(
        WorkedExamplesRow{"N047TotalForEachReadyPod",
            W().Replicas(3).Pods(2, 0).With(Unready(0)).ObjectValue("100", "300"),
            {6}, 6, kRescaled, kFree},
        WorkedExamplesRow{"N048Tolerated",
            W().Replicas(3).Pods(2, 0).ObjectValue("100", "110"), {3}, 3, kReady, kFree},
        WorkedExamplesRow{"N049NoneReadyProposesZero",
            W().Replicas(2).With(Unready(0)).ObjectValue("100", "300"), {0}, 2, kDown, kFree},
        WorkedExamplesRow{"N050NoPods", W().Replicas(2).ObjectValue("100", "300"), {kFails}, 2, kGot, ""},
        WorkedExamplesRow{"N051AverageTolerated",
            W().Replicas(4).ObjectAverage("10", "44"), {4}, 4, kReady, kFree},
        WorkedExamplesRow{"N052AverageRoundsUp",
            W().Replicas(4).ObjectAverage("10", "45"), {5}, 5, kRescaled, kFree},
        WorkedExamplesRow{"N053ToleranceKeepsStatusReplicas",
            W().Replicas(5, 3).ExternalAverage("10", {"30"}), {3}, 5, kDown, kFree},
        WorkedExamplesRow{"N054SeriesAreSummed",
            W().Replicas(2).ExternalAverage("5", {"12", "9.5"}), {5}, 4, kRescaled, "ScaleUpLimit!"},
        WorkedExamplesRow{"N055ExternalValue",
            W().Replicas(3).Pods(3, 0).ExternalValue("4", {"1", "1"}), {2}, 3, kDown, kFree},
        // 10E times 1000 overflows and reads 0.
        WorkedExamplesRow{"N056OverflowReadsZero",
            W().Replicas(3).ExternalAverage("1", {"10E"}), {0}, 3, kDown, kFree},
        WorkedExamplesRow{"N057NegativeSumTakenForOverflow",
            W().Replicas(2).ExternalAverage("10", {"-5"}), {kMax32}, 4, kRescaled, "ScaleUpLimit!"},
        WorkedExamplesRow{"N058NoSuchGuardForValue",
            W().Replicas(2).Pods(2, 0).ExternalValue("10", {"-5"}), {-1}, 2, kDown, kFree},
        WorkedExamplesRow{"N059ExternalIsCapped",
            W().Replicas(3).ExternalAverage("1", {"9P"}), {kMax32}, 6, kRescaled, "ScaleUpLimit!"},
        WorkedExamplesRow{"N060ObjectAverageIsNot",
            W().Replicas(3).ObjectAverage("1", "9P"), {kMin32}, 3, kDown, kFree},
        WorkedExamplesRow{"N061ObjectValueIsNot",
            W().Replicas(3).Pods(3, 0).ObjectValue("1", "9P"), {kMin32}, 3, kDown, kFree}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    FromAndToZero, DecideTest,
    testing::Values(
        WorkedExamplesRow{"N062SwitchedOff", W().Replicas(0).ExternalAverage("1", {"500"}), {}, 0, kGot, ""},
        WorkedExamplesRow{"N063FromZeroByAverage",
            W().Replicas(0).Bounds(0, 100).ExternalAverage("10", {"25"}), {3}, 3, kRescaled, kFree},
        WorkedExamplesRow{"N064ZeroOverZeroStays",
            W().Replicas(0).Bounds(0, 100).ExternalAverage("10", {"0"}), {0}, 0, kReady, kFree},
        WorkedExamplesRow{"N065FromZeroByValue",
            W().Replicas(0).Bounds(0, 100).ExternalValue("100", {"1"}), {1}, 1, kRescaled, kFree},
        WorkedExamplesRow{"N066WindowHoldsTheStartSize",
            W().Replicas(2).Bounds(0, 100).Pods(2, 0).ExternalValue("100", {"0"}),
            {0}, 2, kDown, kFree},
        WorkedExamplesRow{"N067ToZero",
            W().Replicas(2).Bounds(0, 100).Pods(2, 0).ExternalValue("100", {"0"}).Windows(0, 0),
            {0}, 0, kRescaled, kFree}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    ManyMetricsAndBounds, DecideTest,
    testing::Values(
        WorkedExamplesRow{"N068LargestWins", W().Replicas(5).Wants(3).Wants(7), {3, 7}, 7, kRescaled, kFree},
        WorkedExamplesRow{"N069FailureAllowsGrowth",
            W().Replicas(5).Wants(7).FailingMetric(), {7, kFails}, 7, kRescaled, kFree},
        WorkedExamplesRow{"N070FailureForbidsShrinking",
            W().Replicas(5).Wants(3).FailingMetric(), {3, kFails}, 5, kGot, ""},
        WorkedExamplesRow{"N071FailureAllowsStaying",
            W().Replicas(5).FailingMetric().Wants(5), {kFails, 5}, 5, kReady, kFree},
        WorkedExamplesRow{"N072AllFail",
            W().Replicas(5).FailingMetric().FailingMetric(), {kFails, kFails}, 5, kGot, ""},
        WorkedExamplesRow{"N073AboveMax", W().Replicas(12).Bounds(1, 10).Wants(3), {}, 10, kRescaled, ""},
        WorkedExamplesRow{"N074BelowMin", W().Replicas(1).Bounds(3, 10).Wants(9), {}, 3, kRescaled, ""}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    WithoutBehavior, DecideTest,
    testing::Values(
        WorkedExamplesRow{"N075FirstStepIsFour", W().Replicas(1).Wants(50), {50}, 4, kRescaled, "ScaleUpLimit!"},
        WorkedExamplesRow{"N076Doubles", W().Replicas(7).Wants(50), {50}, 14, kRescaled, "ScaleUpLimit!"},
        WorkedExamplesRow{"N077MaxIsNearer",
            W().Replicas(7).Bounds(1, 9).Wants(50), {50}, 9, kRescaled, "TooManyReplicas!"},
        WorkedExamplesRow{"N078Min",
            W().Replicas(4).Bounds(2, 100).Wants(1).Past(1, 10),
            {1}, 2, kRescaled, "TooFewReplicas!"},
        WorkedExamplesRow{"N079OldEntryIsDropped",
            W().Replicas(8).Wants(3).Past(8, 301).Past(5, 60), {3}, 5, kRescaled, kFree},
        WorkedExamplesRow{"N080ExactlyAsOldCounts",
            W().Replicas(8).Wants(3).Past(8, 300).Past(5, 60), {3}, 8, kDown, kFree},
        WorkedExamplesRow{"N081WindowMayScaleUp",
            W().Replicas(4).Wants(3).Past(10, 30), {3}, 8, kRescaled, "ScaleUpLimit!"}),
    NameOf);
// clang-format on

const ScalingPolicy kPods4{PolicyType::kPods, 4, 60};
ScalingPolicy Percent(int32_t value) { return {PolicyType::kPercent, value, 60}; }

// clang-format off
INSTANTIATE_TEST_SUITE_P(
    WithBehavior, DecideTest,
    testing::Values(
        WorkedExamplesRow{"N082DefaultsAllowFive",
            W().Replicas(1).Wants(50).Windows(0, std::nullopt), {50}, 5, kRescaled, "ScaleUpLimit!"},
        // 100 * 1.1 is 110.00000000000001
        WorkedExamplesRow{"N083PercentRoundsUpADouble",
            W().Replicas(100).Wants(500).Up({Percent(10)}), {500}, 111, kRescaled, "ScaleUpLimit!"},
        WorkedExamplesRow{"N084PercentAlwaysGrows",
            W().Replicas(3).Wants(9).Up({Percent(1)}), {9}, 4, kRescaled, "ScaleUpLimit!"},
        // 10 - 3 + 4; the change exactly 60 s old is out.
        WorkedExamplesRow{"N085EventsCountWithinThePeriod",
            W().Replicas(10).Wants(50).Up({kPods4}).Added(3, 30).Added(9, 60),
            {50}, 11, kRescaled, "ScaleUpLimit!"},
        WorkedExamplesRow{"N086LimitIsRaisedToCurrent",
            W().Replicas(20).Wants(50).Up({kPods4}).Added(9, 30), {50}, 20, kReady, "ScaleUpLimit!"},
        WorkedExamplesRow{"N087RemovedCountsBack",
            W().Replicas(10).Wants(50).Up({kPods4}).Added(3, 30).Removed(5, 20),
            {50}, 16, kRescaled, "ScaleUpLimit!"},
        WorkedExamplesRow{"N088Min",
            W().Replicas(10).Wants(50).Up({kPods4, Percent(50)}, SelectPolicy::kMin),
            {50}, 14, kRescaled, "ScaleUpLimit!"},
        WorkedExamplesRow{"N089Max",
            W().Replicas(10).Wants(50).Up({kPods4, Percent(50)}),
            {50}, 15, kRescaled, "ScaleUpLimit!"},
        WorkedExamplesRow{"N090UpDisabled",
            W().Replicas(10).Wants(50).Up({kPods4}, SelectPolicy::kDisabled),
            {50}, 10, kReady, "ScaleUpLimit!"},
        WorkedExamplesRow{"N091DownDisabled",
            W().Replicas(10).Wants(2).Down({kPods4}, SelectPolicy::kDisabled),
            {2}, 10, kReady, "ScaleDownLimit!"},
        WorkedExamplesRow{"N092PercentIsCutDownwards",
            W().Replicas(5).Wants(1).Down({Percent(50)}), {1}, 2, kRescaled, "ScaleDownLimit!"},
        // 10 * (1 - 0.9) is 0.9999…, cut to 0: no limit.
        WorkedExamplesRow{"N093NinetyPercentReachesOne",
            W().Replicas(10).Wants(1).Down({Percent(90)}), {1}, 1, kRescaled, kFree},
        WorkedExamplesRow{"N094EightyPercentIsCutToOne",
            W().Replicas(10).Wants(1).Down({Percent(80)}), {1}, 1, kRescaled, kFree},
        WorkedExamplesRow{"N095LeastChangeDown",
            W().Replicas(10).Wants(1).Down({{PolicyType::kPods, 2, 60}, Percent(50)}, SelectPolicy::kMin),
            {1}, 8, kRescaled, "ScaleDownLimit!"},
        WorkedExamplesRow{"N096MostChangeDown",
            W().Replicas(10).Wants(1).Down({{PolicyType::kPods, 2, 60}, Percent(50)}),
            {1}, 5, kRescaled, "ScaleDownLimit!"},
        // 130 * 0.9 = 117 is lowered to the current count.
        WorkedExamplesRow{"N097LimitIsLoweredToCurrent",
            W().Replicas(100).Wants(1).Down({{PolicyType::kPercent, 10, 120}}).Removed(30, 60),
            {1}, 100, kReady, "ScaleDownLimit!"},
        WorkedExamplesRow{"N098LowestInside",
            W().Replicas(2).Wants(9).Windows(60, std::nullopt).Past(5, 59).Past(3, 60),
            {9}, 5, kRescaled, kFree},
        WorkedExamplesRow{"N099HighestInside",
            W().Replicas(9).Wants(2).Windows(0, 60).Past(6, 59).Past(8, 60),
            {2}, 6, kRescaled, kFree},
        WorkedExamplesRow{"N100BetweenBothWindows",
            W().Replicas(5).Wants(9).Windows(300, 300).Past(3, 10).Past(7, 20), {9}, 5, kUp, kFree},
        WorkedExamplesRow{"N101FlagFillsTheWindow",
            W().Replicas(9).Wants(2).Windows(0, std::nullopt).Past(6, 200),
            {2}, 6, kRescaled, kFree},
        WorkedExamplesRow{"N102EqualLimitReportsTheMax",
            W().Replicas(5).Bounds(1, 9).Wants(50).Up({kPods4}),
            {50}, 9, kRescaled, "TooManyReplicas!"},
        WorkedExamplesRow{"N103OwnToleranceUp",
            W().Replicas(10).ExternalAverage("10", {"120"}).Tolerances("0.2", nullptr),
            {10}, 10, kReady, kFree},
        WorkedExamplesRow{"N104JustOutside",
            W().Replicas(10).ExternalAverage("10", {"120.01"}).Tolerances("0.2", nullptr),
            {13}, 13, kRescaled, kFree},
        WorkedExamplesRow{"N105NoTolerance",
            W().Replicas(10).ExternalAverage("10", {"100.01"}).Tolerances("0", nullptr),
            {11}, 11, kRescaled, kFree},
        // Read back as 700 * 0.001 = 0.7000000000000001.
        WorkedExamplesRow{"N106StoredToleranceIsWider",
            W().Replicas(10).ExternalAverage("10", {"30"}).Windows(0, 0).Tolerances(nullptr, "0.7"),
            {10}, 10, kReady, kFree}),
    NameOf);
// clang-format on

// A cluster flag of 0.7 is not read from a quantity: 1 - 0.7 is 0.30000000000000004, so 0.3 acts.
TEST(DecideTest, N107FlagToleranceIsNarrower) {
  TestWorld world = W().Replicas(10).ExternalAverage("10", {"30"}).Windows(0, 0);
  world.config.tolerance = 0.7;
  EXPECT_EQ(world.Decide().desired, 3);
}

TEST(DecideTest, N111AFailedWriteKeepsTheRecommendationAndNoEvent) {
  TestWorld world = W().Replicas(3).Wants(9).Windows(0, 0);
  const Decision got = world.Decide("conflict");
  EXPECT_FALSE(got.rescaled);
  EXPECT_EQ(Reason(got, "AbleToScale", false), "FailedUpdateScale");
  EXPECT_EQ(got.error, "failed to rescale Deployment/prod/web: conflict");
  EXPECT_EQ(got.state.recommendations.back().replicas, 9);
  EXPECT_TRUE(got.state.scale_ups.empty());
  EXPECT_EQ(got.status.current_metrics.size(), 1u);
}

TEST(DecideTest, N113SharedPodsStopTheAutoscaler) {
  TestWorld world = W().Replicas(3).Wants(9);
  world.rivals = {"prod/other", "prod/web"};
  const Decision got = world.Decide();
  EXPECT_EQ(Reason(got, "ScalingActive", false), "AmbiguousSelector");
  ASSERT_EQ(got.events.size(), 2u);
  EXPECT_EQ(got.events[0].message,
            "pods by selector app=web are controlled by multiple HPAs: [prod/other prod/web]");
  EXPECT_EQ(got.events[1].reason, "FailedComputeMetricsReplicas");
}

TEST(DecideTest, OfManyAutoscalersOverOnePodTheFirstHundredAreNamed) {
  TestWorld world = W().Replicas(3).Wants(9);
  world.rivals.clear();
  for (int i = 0; i < 100; ++i) world.rivals.push_back(absl::StrCat("prod/hpa", 100 + i));
  const std::string hundred = absl::StrJoin(world.rivals, " ");
  const auto message = [&world] { return world.Decide().events[0].message; };
  EXPECT_EQ(message(),
            "pods by selector app=web are controlled by multiple HPAs: [" + hundred + "]");
  world.rivals.insert(world.rivals.end(), {"prod/web", "prod/x"});
  EXPECT_EQ(message(), "pods by selector app=web are controlled by multiple HPAs: [" + hundred +
                           " and 2 more]");
  world.config.rivals_text = RivalsText::kTwoForExample;
  EXPECT_EQ(message(),
            "pods by selector app=web are controlled by more than one HPA (e.g. "
            "[prod/hpa100 prod/hpa101])");
}

}  // namespace
}  // namespace flyball::scaler
