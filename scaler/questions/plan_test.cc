#include "scaler/questions/plan.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scaler/stores/autoscaler_store.h"
#include "scaler/triggers/parts/clients.h"
#include "scaler/triggers/request_front.h"

namespace flyball::scaler {
namespace {

// What a plan needs; everything runs at once where it is asked for, unless it is held.
struct Surroundings {
  bool hold = false;
  std::vector<std::function<void()>> held = {};
  SimulatedClock clock{absl::FromUnixSeconds(1767225600)};
  QuestionBoard board{clock, [](absl::Span<AnswerWaiter* const>) {}};
  const QuestionBoard::Run run = [this](std::function<void()> task) {
    hold ? held.push_back(std::move(task)) : task();
  };
  Lanes lanes{run, {.threads = 1, .of_server = 1}};
  PlanContext context{.board = board,
                      .read_lanes = lanes,
                      .trigger_lanes = lanes,
                      .clock = clock,
                      .triggers = {.ns = "",
                                   .autoscaler = "",
                                   .target = {},
                                   .count_pods = {},
                                   .read_secret = {},
                                   .clients = std::make_shared<TriggerClients>(clock),
                                   .front = nullptr}};
};

ManagedPtr OnSample(const std::string& name, const std::string& cadence) {
  return ReadManaged(AutoscalerKind::kOwn, absl::StrCat(R"({"apiVersion":"flyball.dev/v1alpha1",
      "kind":"Autoscaler","metadata":{"namespace":"shop","name":")",
                                                        name,
                                                        R"("},"spec":{"maxReplicas":9,
      "scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"},"metrics":[{
      "type":"External","external":{"metric":{"name":"queue"},"target":{"type":"AverageValue",
      "averageValue":"1"}}}],"cadence":)",
                                                        cadence, "}}"));
}

ManagedPtr Web(int generation = 1, const std::string& more = "") {
  return ReadManaged(AutoscalerKind::kOwn,
                     absl::StrCat(R"({"apiVersion":"flyball.dev/v1alpha1","kind":"Autoscaler",
      "metadata":{"namespace":"shop","name":"web","generation":)",
                                  generation, R"(},"spec":{"maxReplicas":9,"scaleTargetRef":{
      "apiVersion":"apps/v1","kind":"Deployment","name":"web"},"triggers":[{"type":"cron",
      "metadata":{"timezone":"UTC","start":"0 8 * * *","end":"0 18 * * *",
      "desiredReplicas":"3"}}])",
                                  more, "}}"));
}

// Has its questions asked.
class Asking : public AnswerWaiter {
 public:
  Asking(const std::string& ns, int metrics, Surroundings& around) {
    std::string list;
    for (int i = 0; i < metrics; ++i) {
      absl::StrAppend(&list, i == 0 ? "" : ",",
                      R"({"type":"External","external":{"metric":{"name":"m)", i,
                      R"("},"target":{"type":"AverageValue","averageValue":"1"}}})");
    }
    plan_.Follow(
        ReadManaged(AutoscalerKind::kHpa,
                    absl::StrCat(R"({"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler",
      "metadata":{"namespace":")",
                                 ns, R"(","name":"web"},"spec":{"maxReplicas":9,"scaleTargetRef":{
      "apiVersion":"apps/v1","kind":"Deployment","name":"web"},"metrics":[)",
                                 list, "]}}")),
        around.context, [] {});
    QuestionBoard::ToAsk to_ask;
    for (const auto& question : plan_.metric_questions()) {
      around.board.Join(question, around.clock.MonotonicNow(), *this, to_ask);
    }
    around.board.AskAll(std::move(to_ask));
  }
  bool Answered() override { return false; }

 private:
  Plan plan_;
};

// An HPA may ask for hundreds of metrics: others would wait until all are answered.
TEST(Plan, NamespacesTakeTurnsWithTheirMetrics) {
  Surroundings around;
  around.hold = true;
  const Asking giant("giant", 100, around), small("small", 1, around);
  EXPECT_EQ(around.held.size(), 1u);  // the pool's only thread has it; the others wait in lanes
  EXPECT_EQ(around.lanes.size(), 2u);
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

// Counts who is carried.
class CountingFront : public RequestFront {
 public:
  std::unique_ptr<Carried> Carry(CarriedService service, std::function<void()>) override {
    windows.push_back(service.http.settings.stable_window);
    return std::make_unique<One>(carried);
  }
  bool MayEnterZero(const std::string&) override { return true; }
  void ScaleWritten(const std::string&, int32_t, int32_t, const absl::Status&) override {}

  int carried = 0;
  std::vector<absl::Duration> windows;

 private:
  class One : public Carried {
   public:
    explicit One(int& carried) : carried_(carried) { ++carried_; }
    ~One() override { --carried_; }
    RequestDemand Demand() const override { return {}; }

   private:
    int& carried_;
  };
};

// With the trigger its service would go, and all requests to it.
TEST(Plan, AnHttpTriggerWhoseNewSpecIsWrongGoesOnAsItWas) {
  Surroundings around;
  const auto front = std::make_shared<CountingFront>();
  around.context.triggers.front = front;
  auto web = [generation = 0](const std::string& window) mutable {
    return ReadManaged(AutoscalerKind::kOwn,
                       absl::StrCat(R"({"apiVersion":"flyball.dev/v1alpha1","kind":"Autoscaler",
      "metadata":{"namespace":"shop","name":"web","generation":)",
                                    ++generation, R"(},"spec":{"maxReplicas":9,"scaleTargetRef":{
      "apiVersion":"apps/v1","kind":"Deployment","name":"web"},"triggers":[{"type":"http",
      "metadata":{"service":"web","targetPort":"80","window":")",
                                    window, R"("}}]}})"));
  };
  Plan plan;
  plan.Follow(web("30s"), around.context, [] {});
  ASSERT_EQ(front->carried, 1);
  for (const char* const wrong : {"5s", "4s"}) {
    EXPECT_TRUE(plan.Follow(web(wrong), around.context, [] {}));
    EXPECT_EQ(front->carried, 1);
    EXPECT_NE(plan.triggers()[0].error, "");
    EXPECT_NE(plan.triggers()[0].question, nullptr);
  }
  plan.Follow(web("20s"), around.context, [] {});
  EXPECT_EQ(plan.triggers()[0].error, "");
  EXPECT_EQ(front->windows, (std::vector{absl::Seconds(30), absl::Seconds(20)}));
  EXPECT_EQ(front->carried, 1);
  plan.Follow(Web(9), around.context, [] {});
  EXPECT_EQ(front->carried, 0) << "it has another trigger";
  plan.Follow(web("5s"), around.context, [] {});
  EXPECT_EQ(front->carried, 0) << "it was never right";
  EXPECT_EQ(plan.triggers()[0].trigger, nullptr);
}

// A server that is down when a schedule opens could not name the metrics anew.
TEST(Plan, WhatASchedulesOpeningLeavesOfTheTriggers) {
  Surroundings around;
  Plan plan;
  const std::string daily =
      R"(,"schedules":[{"name":"a","start":"0 0 * * *","end":"0 1 * * *","minReplicas":2}])";
  const ManagedPtr web = Web(1, daily);
  ASSERT_EQ(web->refused, "");
  plan.Follow(web, around.context, [] {});
  Answer answer;
  answer.trigger_metrics = {{.name = "s0-a"}, {.name = "s0-b"}};
  plan.LearnTriggerMetrics(0, answer);
  plan.triggers()[0].failures = {2, 0};
  const std::weak_ptr<Trigger> trigger = plan.triggers()[0].trigger;
  const ManagedPtr open = ManagedAt(web, absl::FromUnixSeconds(1767225600));
  ASSERT_NE(open, web);
  EXPECT_TRUE(plan.Follow(open, around.context, [] {}));
  EXPECT_TRUE(trigger.expired());
  EXPECT_EQ(plan.triggers()[0].metrics, answer.trigger_metrics);
  EXPECT_EQ(plan.triggers()[0].failures, (std::vector<int32_t>{2, 0}));
  EXPECT_EQ(plan.autoscaler().metrics.size(), 2u);
  EXPECT_TRUE(plan.Follow(Web(2, daily), around.context, [] {}));
  EXPECT_EQ(plan.triggers()[0].metrics.size(), 1u);
  EXPECT_EQ(plan.triggers()[0].failures, std::vector<int32_t>{0});
}

// A question that is shared would be asked for each sample of any of those who share it.
TEST(Plan, OnSampleHasQuestionsOfItsOwnWhereSamplesAreTold) {
  Surroundings around;
  const auto share = [&](const std::string& cadence, bool tells) {
    around.context.tells_of_samples = [tells] { return tells; };
    Plan a, b;
    a.Follow(OnSample("a", cadence), around.context, [] {});
    b.Follow(OnSample("b", cadence), around.context, [] {});
    EXPECT_NE(a.metric_questions().at(0), nullptr);
    return QuestionBoard::QuestionOf(*a.metric_questions().at(0)) ==
           QuestionBoard::QuestionOf(*b.metric_questions().at(0));
  };
  EXPECT_FALSE(share(R"({"onSample":true})", true));
  EXPECT_TRUE(share(R"({"onSample":true})", false));
  EXPECT_TRUE(share(R"({"interval":"1s"})", true));
}

}  // namespace
}  // namespace flyball::scaler
