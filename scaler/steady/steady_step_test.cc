#include "scaler/steady/steady_step.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "adapter/testing/fakes.h"
#include "scaler/testing/test_status_world.h"

namespace flyball::scaler {
namespace {

class NoSink : public AutoscalerSink {
 public:
  void OnAutoscaler(ManagedPtr) override {}
  void OnGone(const AutoscalerKey&) override {}
};

// How many autoscalers the last round had, by the types of their metrics.
class RoundNotes : public DecisionObserver {
 public:
  void OnDecision(const DecisionRecord&) override {}
  void OnForgotten(const AutoscalerKey&) override {}
  void OnRound(const RoundRecord& round) override {
    last.clear();
    for (const RoundRecord::Count& count : round.kinds) {
      EXPECT_EQ(count.kind->kind, AutoscalerKind::kHpa);
      last[count.kind->metric_types] = count.autoscalers;
    }
  }
  std::map<std::vector<std::string>, size_t> last;
};

class SteadyStepTest : public testing::Test {
 protected:
  using Types = std::vector<std::string>;

  // One whose last decision changed nothing.
  std::unique_ptr<TrackedAutoscaler> MakeTracked() {
    auto tracked = std::make_unique<TrackedAutoscaler>(
        AutoscalerKey{.kind = AutoscalerKind::kHpa, .ns = "shop", .name = "web"});
    CycleInputs& inputs = tracked->inputs;
    inputs.managed = hpa_;
    inputs.mode = Mode::kAct;
    inputs.configs = configs_.Get();
    inputs.plan.Follow(hpa_, plan_context_, [] {});
    inputs.answers = {0};
    inputs.target.place.object = std::make_shared<const ScaleStore::ObjectScale>();
    inputs.pods.selected = pods_.Select(tracked->key, kube::Selector(), "");
    inputs.pods.answer.version = 1;
    tracked->decided.unchanged = true;
    Decision& decision = tracked->decided.decision;
    decision.outcome = Outcome::kDecided;
    decision.stabilization.emplace();
    decision.limiting.emplace();
    tracked->written.status.seen = hpa_;
    tracked->written.status.outbox = StatusWorld::NewOutbox();
    return tracked;
  }
  bool BecomesSteady(TrackedAutoscaler& tracked, const Types& types) {
    std::vector<MetricLabels>& metrics = tracked.decided.decision.monitor.metrics;
    metrics.clear();
    for (const std::string& type : types) metrics.push_back({.type = type});
    tracked.steady_on = nullptr;
    step_.Note(tracked, now_);
    return tracked.steady_on != nullptr;
  }

  StatusWorld world_;
  NoSink sink_;
  PodStore pods_{world_.clock, nullptr};
  AutoscalerStore autoscalers_{world_.clock, sink_};
  adapter::FakeDirectory directory_;
  QuestionBoard board_{world_.clock, [](absl::Span<AnswerWaiter* const>) {}};
  Lanes lanes_{[](const std::function<void()>& task) { task(); }, {.threads = 1, .of_server = 1}};
  PlanContext plan_context_{.board = board_,
                            .read_lanes = lanes_,
                            .trigger_lanes = lanes_,
                            .clock = world_.clock,
                            .triggers = {}};
  LiveConfig configs_{ControllerFlags(), Dialect()};
  RoundNotes notes_;
  SteadyStep step_{{.pods = pods_,
                    .autoscalers = autoscalers_,
                    .directory = directory_,
                    .ownership = world_.owner,
                    .board = board_,
                    .statuses = *world_.writer,
                    .configs = configs_,
                    .observers = {&notes_}}};
  const SteadyStep::Times now_{world_.clock.WallNow(), world_.clock.MonotonicNow()};
  const ManagedPtr hpa_ = ReadManaged(AutoscalerKind::kHpa, R"({"apiVersion":"autoscaling/v2",
      "kind":"HorizontalPodAutoscaler","metadata":{"namespace":"shop","name":"web"},"spec":{
      "maxReplicas":9,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"},
      "metrics":[{"type":"External","external":{"metric":{"name":"queue"},"target":{
      "type":"AverageValue","averageValue":"1"}}}]}})");
};

TEST_F(SteadyStepTest, ARoundTellsHowManyHaveTheSameTypesOfMetrics) {
  std::vector<std::unique_ptr<TrackedAutoscaler>> members;
  SteadyGroup group;
  group.terms.wall_offset = now_.WallOffset();
  for (const Types& types :
       {Types{"Pods"}, Types{"Pods", "External"}, Types{"Pods"}, Types{"Pods", "Pods"}}) {
    members.push_back(MakeTracked());
    ASSERT_TRUE(BecomesSteady(*members.back(), types));
    group.members.push_back(members.back()->steady_on->member);
  }
  for (int round = 0; round < 2; ++round) {
    EXPECT_TRUE(step_.End(group, now_).empty());
    EXPECT_EQ(notes_.last, (std::map<Types, size_t>{
                               {{"Pods"}, 2}, {{"Pods", "External"}, 1}, {{"Pods", "Pods"}, 1}}));
  }
  // One has a new spec: it leaves, and comes back as one of another kind.
  group.members.pop_back();
  group.keys.clear();
  ASSERT_TRUE(BecomesSteady(*members[3], {"Object"}));
  group.members.push_back(members[3]->steady_on->member);
  EXPECT_TRUE(step_.End(group, now_).empty());
  EXPECT_EQ(notes_.last,
            (std::map<Types, size_t>{{{"Pods"}, 2}, {{"Pods", "External"}, 1}, {{"Object"}, 1}}));
}

// Where each namespace has a watch of its own.
TEST_F(SteadyStepTest, AWatchOfPodsThatFailsEndsSteadinessInItsNamespaceAlone) {
  kube::WatchHandler& shop = pods_.AddFeed("shop");
  pods_.AddFeed("gone").StatusChanged(absl::PermissionDeniedError("forbidden"));
  shop.ListStarted();
  shop.ListEnded();
  const std::unique_ptr<TrackedAutoscaler> tracked = MakeTracked();
  tracked->inputs.target.mapper = directory_.mapper();
  tracked->inputs.pods.answer.version = tracked->inputs.pods.selected->version();
  tracked->decided.wall_offset = now_.WallOffset();
  ASSERT_TRUE(BecomesSteady(*tracked, {"External"}));
  const auto stays_steady = [&] {
    std::vector<TrackedAutoscaler*> due = {tracked.get()};
    SteadyStep::Present present = step_.Look(/*ownership_epoch=*/0, now_);
    return step_.TakeGroups(due, present).size() == 1;
  };
  EXPECT_TRUE(stays_steady());
  shop.StatusChanged(absl::UnavailableError("connection reset"));
  world_.clock.Advance(kStaleAfter + absl::Seconds(1));
  EXPECT_FALSE(stays_steady());
}

// Whoever may edit an autoscaler chooses the types of its metrics, and how many there are.
TEST_F(SteadyStepTest, EditsThatBringEverNewTypesOfMetricsLeaveNothingBehind) {
  const std::unique_ptr<TrackedAutoscaler> tracked = MakeTracked();
  const auto edit = [&](uint32_t number) {
    Types types;
    for (int i = 0; i < 12; ++i) types.push_back((number >> i & 1u) != 0 ? "Pods" : "External");
    return BecomesSteady(*tracked, types);
  };
  ASSERT_TRUE(edit(0));
  const size_t before = mallinfo2().uordblks;
  for (uint32_t number = 1; number < 1u << 12; ++number) ASSERT_TRUE(edit(number));
  EXPECT_LT(mallinfo2().uordblks, before + 10'000);
}

}  // namespace
}  // namespace flyball::scaler
