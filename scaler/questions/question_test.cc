#include "scaler/questions/question.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace flyball::scaler {
namespace {

using adapter::PodAmounts;
using testing::ElementsAre;
using testing::Pair;

MetricSpec Resource(const char* name, MetricType type = MetricType::kResource) {
  MetricSpec spec;
  spec.type = type;
  spec.resource = name;
  return spec;
}

MetricSpec PodsMetric(const char* name) {
  MetricSpec spec;
  spec.type = MetricType::kPods;
  spec.metric.name = name;
  return spec;
}

// Knows of no pod, but what is wanted of them.
class FakeProvider : public adapter::ResourceMetricsProvider {
 public:
  using Pod = adapter::PodMetrics;
  using Node = adapter::NodeMetrics;

  absl::StatusOr<adapter::ResourceMetricList<Pod>> Pods(absl::string_view, absl::string_view,
                                                        const adapter::ObjectFilter&,
                                                        absl::Duration) override {
    return adapter::ResourceMetricList<Pod>();
  }
  std::unique_ptr<adapter::StandingPods> StandPods(std::string ns, kube::Selector selector,
                                                   PodAmounts amounts) override {
    wanted.push_back(amounts);
    return ResourceMetricsProvider::StandPods(std::move(ns), std::move(selector), amounts);
  }
  absl::StatusOr<adapter::ResourceMetricList<Node>> Nodes(absl::string_view,
                                                          const adapter::ObjectFilter&,
                                                          absl::Duration) override {
    return adapter::ResourceMetricList<Node>();
  }
  uint64_t Epoch() const override { return 0; }

  std::vector<PodAmounts> wanted;
};

class QuestionTest : public testing::Test {
 protected:
  AnswerPtr Ask(Question& question) { return question.Ask(context_)[0].answer; }

  const std::shared_ptr<FakeProvider> provider_ = std::make_shared<FakeProvider>();
  AskContext context_{.providers = {.custom = nullptr, .external = nullptr, .resource = provider_},
                      .mapper = nullptr,
                      .now = {}};
};

TEST_F(QuestionTest, WhileAllReadCpuOnlyCpuIsAskedFor) {
  const auto question = MakeMetricQuestion("web", Resource("cpu"));
  question->AddPart(Resource("cpu"));
  for (int i = 0; i < 2; ++i) {
    Ask(*question);
    EXPECT_TRUE(question->Covers());
  }
  question->AddPart(Resource("memory"));
  EXPECT_FALSE(question->Covers());
  Ask(*question);
  EXPECT_TRUE(question->Covers());
  EXPECT_THAT(provider_->wanted, ElementsAre(PodAmounts::kCpu, PodAmounts::kBoth));
}

// It is found among those of either amount.
TEST_F(QuestionTest, WhoReadsOneContainerAsksForBoth) {
  Ask(*MakeMetricQuestion("web", Resource("memory")));
  Ask(*MakeMetricQuestion("web", Resource("cpu", MetricType::kContainerResource)));
  Ask(*MakeMetricQuestion("web", Resource("nvidia.com/gpu")));
  EXPECT_THAT(provider_->wanted,
              ElementsAre(PodAmounts::kMemory, PodAmounts::kBoth, PodAmounts::kBoth));
}

// What did not cover would be asked for without end.
TEST_F(QuestionTest, ThatThereIsNoApiIsAnAnswerToAll) {
  context_.providers = {};
  for (const MetricSpec& metric : {Resource("cpu"), PodsMetric("load")}) {
    const auto question = MakeMetricQuestion("web", metric);
    for (const char* selector : {"app=a", "app=b"}) {
      question->NoteSelector(selector, *kube::Selector::Parse(selector));
    }
    question->AddPart(metric);
    EXPECT_NE(Ask(*question)->error, "");
    EXPECT_TRUE(question->Covers());
  }
}

// Was told of activity; its server names no metrics.
class PushedTrigger : public Trigger {
 public:
  absl::StatusOr<std::vector<TriggerMetric>> Metrics(absl::Duration) override {
    return absl::UnavailableError("it is down");
  }
  std::vector<TriggerReading> Read(absl::Time now, absl::Duration timeout) override {
    EXPECT_EQ(timeout, absl::ZeroDuration());
    return {{.error = "it is down", .active = true, .time = now}};
  }
};

TEST_F(QuestionTest, ATriggerIsReadAlthoughItsMetricsAreUnknown) {
  SimulatedClock clock(absl::UnixEpoch());
  const AnswerPtr answer = Ask(*MakeTriggerQuestion(std::make_shared<PushedTrigger>(), clock));
  EXPECT_EQ(answer->error, "it is down");
  EXPECT_TRUE(answer->trigger_metrics.empty());
  ASSERT_EQ(answer->trigger_readings.size(), 1u);
  EXPECT_TRUE(answer->trigger_readings[0].active);
}

MetricSpec Queue(const char* of) {
  MetricSpec spec;
  spec.type = MetricType::kExternal;
  spec.metric.name = "queue";
  spec.metric.selector_text = of;
  spec.metric.selector.emplace();
  spec.metric.selector->match_labels["of"] = of;
  return spec;
}

// A queue is as long as its name.
class Queues : public adapter::ExternalMetricsProvider {
 public:
  absl::StatusOr<adapter::ExternalMetricList> Get(
      const adapter::ExternalMetricRequest& request) override {
    const std::string& of = request.selector.requirements()[0].values[0];
    if (of == "broken") return absl::InternalError("unable to fetch metrics");
    adapter::ExternalMetricList list;
    list.kept = of == "kept";
    list.items.push_back(
        {.labels = {}, .timestamp = {}, .value_milli = static_cast<int64_t>(of.size())});
    return list;
  }
  std::unique_ptr<adapter::StandingExternal> Stand(
      std::vector<adapter::ExternalMetricRequest> requests) override {
    stood.push_back(requests.size());
    return ExternalMetricsProvider::Stand(std::move(requests));
  }
  std::shared_ptr<const std::vector<std::string>> ListAll() const override { return nullptr; }
  uint64_t Epoch() const override { return 0; }

  std::vector<size_t> stood;  // how many requests each standing one was made of
};

// A stock controller can't know; whoever does holds.
TEST_F(QuestionTest, AKeptValueIsUnknown) {
  context_.providers.external = std::make_shared<Queues>();
  const auto question = MakeMetricQuestion("web", Queue("kept"));
  question->AddPart(Queue("kept"));
  const AnswerPtr answer = Ask(*question);
  EXPECT_THAT(answer->error, testing::HasSubstr("a kept value must not change the count"));
  EXPECT_TRUE(answer->series.empty());
}

TEST_F(QuestionTest, SelectorsOfAnExternalMetricAreItsParts) {
  const auto queues = std::make_shared<Queues>();
  context_.providers.external = queues;
  const auto question = MakeMetricQuestion("web", Queue("a"));
  EXPECT_EQ(QuestionKey("web", Queue("a")), QuestionKey("web", Queue("broken")));
  const Question::PartId a = question->AddPart(Queue("a"));
  const Question::PartId broken = question->AddPart(Queue("broken"));
  EXPECT_EQ(question->AddPart(Queue("a")), a);
  EXPECT_FALSE(question->Covers());
  // Of each part its value or error.
  const auto ask = [&] {
    std::map<Question::PartId, std::string> out;
    for (const Question::PartAnswer& one : question->Ask(context_)) {
      out[one.part] = one.answer->error.empty() ? std::to_string(one.answer->series[0].value_milli)
                                                : one.answer->error;
    }
    EXPECT_TRUE(question->Covers());
    return out;
  };
  const std::string error = "Internal error occurred: unable to fetch metrics";
  EXPECT_THAT(ask(), ElementsAre(Pair(a, "1"), Pair(broken, error)));
  ask();
  EXPECT_FALSE(question->RemovePart(a));  // somebody else holds it
  EXPECT_TRUE(question->Covers());
  EXPECT_TRUE(question->RemovePart(a));
  const Question::PartId other = question->AddPart(Queue("four"));
  EXPECT_NE(other, a);
  EXPECT_THAT(ask(), ElementsAre(Pair(broken, error), Pair(other, "4")));
  EXPECT_THAT(queues->stood, ElementsAre(2, 2));  // nothing was made anew between
  context_.providers.external = nullptr;
  EXPECT_EQ(ask()[other],
            "the server could not find the requested resource (get queue.external.metrics.k8s.io)");
}

}  // namespace
}  // namespace flyball::scaler
