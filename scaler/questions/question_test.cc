#include "scaler/questions/question.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace flyball::scaler {
namespace {

using adapter::PodAmounts;
using testing::ElementsAre;

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
  absl::StatusOr<adapter::ResourceMetricList<Pod>> PodsAgain(absl::string_view,
                                                             const kube::Selector&,
                                                             PodAmounts amounts, absl::Duration,
                                                             const adapter::Repeat&) override {
    wanted.push_back(amounts);
    return adapter::ResourceMetricList<Pod>();
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
  std::unique_ptr<Answer> Ask(Question& question) {
    auto answer = std::make_unique<Answer>();
    question.Ask(context_, *answer);
    return answer;
  }

  const std::shared_ptr<FakeProvider> provider_ = std::make_shared<FakeProvider>();
  AskContext context_{.providers = {.custom = nullptr, .external = nullptr, .resource = provider_},
                      .mapper = nullptr,
                      .now = {}};
};

TEST_F(QuestionTest, WhileAllReadCpuOnlyCpuIsAskedFor) {
  const auto question = MakeMetricQuestion("web", Resource("cpu"));
  question->NoteMetric(Resource("cpu"));
  const auto cpu = Ask(*question);
  EXPECT_TRUE(question->Covers(*cpu));
  question->NoteMetric(Resource("memory"));
  EXPECT_FALSE(question->Covers(*cpu));
  EXPECT_TRUE(question->Covers(*Ask(*question)));
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
    question->NoteMetric(metric);
    const auto answer = Ask(*question);
    EXPECT_NE(answer->error, "");
    EXPECT_TRUE(question->Covers(*answer));
  }
}

}  // namespace
}  // namespace flyball::scaler
