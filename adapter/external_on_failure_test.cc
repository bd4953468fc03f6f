#include "adapter/external_on_failure.h"

#include "adapter/queries/failure_notes.h"
#include "adapter/testing/floor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::adapter {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kRules[] = R"(
externalRules:
- seriesQuery: 'queue_len{ns!=""}'
  metricsQuery: 'sum(<<.Series>>{<<.LabelMatchers>>}) by (queue)'
  resources: {overrides: {ns: {resource: namespace}}}
  onFailure: {keepLast: 5m, then: {value: "120"}}
- seriesQuery: 'plain_len{ns!=""}'
  metricsQuery: 'sum(<<.Series>>{<<.LabelMatchers>>})'
  resources: {overrides: {ns: {resource: namespace}}}
- seriesQuery: 'held_len{ns!=""}'
  metricsQuery: 'sum(<<.Series>>{<<.LabelMatchers>>})'
  resources: {overrides: {ns: {resource: namespace}}}
  onFailure: {keepLast: 5m, then: fail}
- seriesQuery: 'counted_len{ns!=""}'
  metricsQuery: 'sum(<<.Series>>{<<.LabelMatchers>>})'
  resources: {overrides: {ns: {resource: namespace}}}
  onFailure: {keepLast: 5m, then: {replicas: 6}}
- seriesQuery: 'never_kept_len{ns!=""}'
  metricsQuery: 'sum(<<.Series>>{<<.LabelMatchers>>})'
  resources: {overrides: {ns: {resource: namespace}}}
  onFailure: {then: {value: "70"}}
- seriesQuery: 'briefly_len{ns!=""}'
  metricsQuery: 'sum(<<.Series>>{<<.LabelMatchers>>})'
  resources: {overrides: {ns: {resource: namespace}}}
  onFailure: {keepLast: 10s, then: {value: "70"}}
)";

// One HPA, or why nobody knows of any.
class FakeAskers : public MetricAskers {
 public:
  absl::StatusOr<std::vector<MetricAsker>> Of(const ExternalMetricRequest& request) override {
    ++asked;
    if (!error.empty()) return absl::Status(code, error);
    if (request.ns != "shop" || request.metric != metric) return std::vector<MetricAsker>();
    return std::vector<MetricAsker>{{.name = "shop/web",
                                     .average_milli = average_milli,
                                     .value_milli = value_milli,
                                     .min = 1,
                                     .max = 20,
                                     .spec_replicas = replicas,
                                     .status_replicas = replicas}};
  }
  std::string metric = "counted_len";
  std::optional<int64_t> average_milli = 10'000, value_milli;
  int32_t replicas = 2;
  absl::StatusCode code = absl::StatusCode::kUnavailable;
  std::string error;
  int asked = 0;
};

class ExternalOnFailureTest : public testing::Test {
 protected:
  ExternalOnFailureTest() {
    floor_.source.OnSeries(
        [this](const std::string& selector) -> absl::StatusOr<std::vector<SeriesName>> {
          if (!up_) return absl::UnavailableError("connection refused");
          if (empty_) return std::vector<SeriesName>();
          return std::vector<SeriesName>{
              {.name = selector.substr(0, selector.find('{')), .labels = {"ns", "queue"}}};
        });
    floor_.source.OnQuery([this](const std::string&) -> FakeSource::Result {
      if (!up_) return absl::UnavailableError("connection refused");
      std::vector<Sample> samples = {
          {.labels = {{"queue", "a"}}, .time = floor_.clock.WallNow(), .value = load_}};
      return VectorOf(empty_ ? std::vector<Sample>() : std::move(samples));
    });
  }

  void Start() {
    rules_ = CompileOrDie(kRules);
    floor_.Load(rules_);
    kept_.emplace(floor_.clock.MonotonicNow());
    provider_.emplace(floor_.answering(), *kept_, rules_,
                      std::make_shared<ExternalProvider>(floor_.answering()), &askers_);
  }
  absl::StatusOr<ExternalMetricList> Ask(const std::string& metric = "queue_len") {
    return provider_->Get({.ns = "shop", .metric = metric, .selector = {}});
  }
  // What a stock controller sees: the sum of the items, or that there is none: -1.
  int64_t Total(const std::string& metric = "queue_len") {
    const auto list = Ask(metric);
    if (!list.ok()) return -1;
    int64_t total = 0;
    for (const ExternalMetricValue& item : list->items) total += item.value_milli / 1000;
    return total;
  }
  // Each period of a stock controller.
  void PassPeriod() { floor_.clock.Advance(absl::Seconds(15)); }

  bool up_ = true;
  bool empty_ = false;
  double load_ = 100;
  TestFloor floor_{{}};
  std::shared_ptr<const rules::CompiledRules> rules_;
  FakeAskers askers_;
  std::optional<KeptAnswers> kept_;
  std::optional<ExternalOnFailure> provider_;
};

TEST_F(ExternalOnFailureTest, WhileTheSourceAnswersNothingIsReplaced) {
  Start();
  EXPECT_EQ(Total(), 100);
  PassPeriod();
  load_ = 10;
  EXPECT_EQ(Total(), 10);
  EXPECT_THAT(Ask()->replaced, IsEmpty());
  EXPECT_FALSE(Ask()->kept);
}

TEST_F(ExternalOnFailureTest, AKeptAnswerHasItsTrueTimeAndSaysSo) {
  Start();
  const absl::Time measured = WholeSeconds(floor_.clock.WallNow());
  EXPECT_EQ(Total(), 100);
  up_ = false;
  floor_.clock.Advance(absl::Minutes(4));
  const auto list = Ask();
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(list->items[0].timestamp, measured);
  EXPECT_TRUE(list->kept);
  EXPECT_THAT(list->replaced, HasSubstr("test.yaml:3 has not answered for 4m0s"));
}

TEST_F(ExternalOnFailureTest, AKeptAnswerThatMakesATargetSmallerIsHeldBack) {
  Start();
  EXPECT_EQ(Total(), 100);
  up_ = false;
  PassPeriod();
  askers_.metric = "queue_len";
  askers_.replicas = 10;
  EXPECT_EQ(Total(), 100);
  askers_.replicas = 11;  // by an earlier load, or by another metric
  EXPECT_THAT(std::string(Ask().status().message()),
              HasSubstr("held back: it would make the target of shop/web smaller"));
  askers_.replicas = 0;
  EXPECT_EQ(Total(), 100);
  // A Value is multiplied with each new count.
  askers_.replicas = 3;
  askers_.average_milli.reset();
  askers_.value_milli = 100'001;
  EXPECT_EQ(Total(), -1);
  askers_.value_milli = 100'000;
  EXPECT_EQ(Total(), 100);
  askers_.error = "the API server is too slow";
  EXPECT_THAT(std::string(Ask().status().message()), HasSubstr("is too slow"));
  askers_.code = absl::StatusCode::kPermissionDenied;  // who wrote the rule answers for it
  EXPECT_EQ(Total(), 100);
}

TEST_F(ExternalOnFailureTest, AnotherQueryKeepsAnswersOfItsOwn) {
  Start();
  EXPECT_EQ(Total(), 100);
  std::string text = kRules;
  text.replace(text.find("sum(<<"), 4, "1000*sum(");
  const auto changed = CompileOrDie(text);
  provider_.emplace(floor_.answering(), *kept_, changed,
                    std::make_shared<ExternalProvider>(floor_.answering()), &askers_);
  floor_.Load(changed);
  up_ = false;
  EXPECT_EQ(Total(), -1);
}

// However seldom a controller asks.
TEST_F(ExternalOnFailureTest, ThenCountsWhereNothingOrLittleIsKept) {
  Start();
  for (const char* metric : {"never_kept_len", "briefly_len"}) {
    up_ = true;
    EXPECT_EQ(Total(metric), 100);
    PassPeriod();
    up_ = false;
    EXPECT_EQ(Total(metric), -1) << metric;  // one failure is no long silence
    for (int i = 0; i < 40; ++i) {
      PassPeriod();
      EXPECT_EQ(Total(metric), 70) << metric << i;
    }
  }
}

TEST_F(ExternalOnFailureTest, OfTheLastMinutesTheGreatestIsKept) {
  Start();
  load_ = 500;
  EXPECT_EQ(Total(), 500);
  floor_.clock.Advance(absl::Minutes(6));  // out of the window
  load_ = 120;
  EXPECT_EQ(Total(), 120);
  for (load_ = 119; load_ > 100; --load_) {
    PassPeriod();
    Total();
  }
  up_ = false;
  PassPeriod();
  EXPECT_EQ(Total(), 120);
}

TEST_F(ExternalOnFailureTest, AfterThatTheValueOfThenCounts) {
  Start();
  EXPECT_EQ(Total(), 100);
  up_ = false;
  floor_.clock.Advance(absl::Minutes(5));
  EXPECT_EQ(Total(), 100);
  floor_.clock.Advance(absl::Seconds(1));
  EXPECT_EQ(Total(), 120);
  EXPECT_EQ(Ask()->items[0].timestamp, WholeSeconds(floor_.clock.WallNow()));
  EXPECT_FALSE(Ask()->kept);
  EXPECT_THAT(Ask()->replaced, HasSubstr("onFailure.then"));
  up_ = true;
  PassPeriod();  // a failure is given again for some time
  EXPECT_EQ(Total(), 100);
}

TEST_F(ExternalOnFailureTest, ThenFailFails) {
  Start();
  EXPECT_EQ(Total("held_len"), 100);
  up_ = false;
  PassPeriod();
  EXPECT_EQ(Total("held_len"), 100);
  floor_.clock.Advance(absl::Minutes(5));
  EXPECT_TRUE(absl::IsInternal(Ask("held_len").status()));
}

TEST_F(ExternalOnFailureTest, ThenReplicasIsTheTotalThatAsksForThem) {
  Start();
  EXPECT_EQ(Total("counted_len"), 100);
  up_ = false;
  floor_.clock.Advance(absl::Minutes(5));
  EXPECT_EQ(Total("counted_len"), 100);
  floor_.clock.Advance(absl::Seconds(1));
  EXPECT_EQ(Total("counted_len"), 60);
  EXPECT_EQ(Ask("counted_len")->items[0].timestamp, WholeSeconds(floor_.clock.WallNow()));
  EXPECT_THAT(Ask("counted_len")->replaced, HasSubstr("the replicas of its onFailure.then"));
  // There are as many: the metric fails, and the HPA holds.
  askers_.replicas = 6;
  const absl::Status enough = Ask("counted_len").status();
  EXPECT_TRUE(absl::IsInternal(enough));
  EXPECT_THAT(std::string(enough.message()), HasSubstr("onFailure.then holds: no Horizontal"));
  EXPECT_NE(NoteOf(enough, kWarningNote), "");
  askers_.error = "the API server is away";
  EXPECT_THAT(std::string(Ask("counted_len").status().message()),
              HasSubstr("holds: the API server is away"));
}

TEST_F(ExternalOnFailureTest, OfASourceThatNeverAnsweredTooReplicasAreAskedFor) {
  up_ = false;
  askers_.replicas = 1;
  Start();
  EXPECT_TRUE(absl::IsNotFound(Ask("counted_len").status()));
  floor_.clock.Advance(absl::Minutes(5) + absl::Seconds(1));
  EXPECT_EQ(Total("counted_len"), 60);
}

// What stands is asked by our own scaler, whose autoscalers have fallbacks of their own.
TEST_F(ExternalOnFailureTest, AStandingRequestGetsNoReplicas) {
  Start();
  const auto standing = provider_->Stand({{.ns = "shop", .metric = "counted_len", .selector = {}}});
  ASSERT_TRUE(standing->Ask(absl::Seconds(10))[0].ok());
  up_ = false;
  floor_.clock.Advance(absl::Minutes(3));
  EXPECT_TRUE(standing->Ask(absl::Seconds(10))[0].ok()) << "it is kept";
  floor_.clock.Advance(absl::Minutes(3));
  const auto answers = standing->Ask(absl::Seconds(10));
  ASSERT_FALSE(answers[0].ok());
  EXPECT_THAT(std::string(answers[0].status().message()), HasSubstr("only a stock controller's"));
  EXPECT_EQ(askers_.asked, 0);
}

TEST_F(ExternalOnFailureTest, ARuleWithoutItFailsAtOnce) {
  Start();
  EXPECT_EQ(Total("plain_len"), 100);
  up_ = false;
  PassPeriod();
  EXPECT_TRUE(absl::IsInternal(Ask("plain_len").status()));
}

// The source never answered since the start, so that no series is known; the count of 12 is held as
// long as a value of earlier might have been kept, and only then the user's word counts.
TEST_F(ExternalOnFailureTest, ASourceThatNeverAnsweredIsReplacedToo) {
  up_ = false;
  Start();
  EXPECT_TRUE(absl::IsNotFound(Ask().status()));
  floor_.clock.Advance(absl::Minutes(5));
  EXPECT_TRUE(absl::IsNotFound(Ask().status()));
  floor_.clock.Advance(absl::Seconds(1));
  EXPECT_EQ(Total(), 120);
  EXPECT_TRUE(absl::IsNotFound(Ask("plain_len").status()));
  EXPECT_TRUE(absl::IsNotFound(Ask("held_len").status()));
}

TEST_F(ExternalOnFailureTest, ASourceThatKnowsNoSeriesHasAnswered) {
  empty_ = true;
  Start();
  floor_.clock.Advance(absl::Minutes(6));
  EXPECT_TRUE(absl::IsNotFound(Ask().status()));
}

TEST_F(ExternalOnFailureTest, AnEmptyAnswerIsAnAnswer) {
  Start();
  EXPECT_EQ(Total(), 100);
  PassPeriod();
  empty_ = true;
  EXPECT_THAT(Ask()->items, IsEmpty());
}

// One failure is no long silence: of a question that is new, that got no samples, or that nobody has
// asked for long.
TEST_F(ExternalOnFailureTest, SilenceBeginsWithTheFirstFailure) {
  Start();
  floor_.clock.Advance(absl::Hours(72));
  up_ = false;
  EXPECT_EQ(Total(), -1);
  floor_.clock.Advance(absl::Minutes(4));
  EXPECT_EQ(Total(), -1);
  floor_.clock.Advance(absl::Minutes(2));
  EXPECT_EQ(Total(), 120);
  up_ = true;
  empty_ = true;
  PassPeriod();
  for (int i = 0; i < 40; ++i, PassPeriod()) EXPECT_EQ(Total(), 0);
  up_ = false;
  EXPECT_EQ(Total(), -1);
  // Meanwhile it answered others.
  floor_.clock.Advance(absl::Hours(3));
  EXPECT_EQ(Total(), -1);
}

TEST_F(ExternalOnFailureTest, SelectorsAndNamespacesAreKeptApart) {
  Start();
  EXPECT_EQ(Total(), 100);
  up_ = false;
  PassPeriod();
  const kube::Selector queue_b = *kube::Selector::Parse("queue=b");
  EXPECT_FALSE(provider_->Get({.ns = "shop", .metric = "queue_len", .selector = queue_b}).ok());
  EXPECT_FALSE(provider_->Get({.ns = "web", .metric = "queue_len", .selector = {}}).ok());
}

TEST_F(ExternalOnFailureTest, AStandingRequestIsToldTheSame) {
  Start();
  const auto standing = provider_->Stand({{.ns = "shop", .metric = "queue_len", .selector = {}},
                                          {.ns = "shop", .metric = "plain_len", .selector = {}}});
  ASSERT_TRUE(standing->Ask(absl::Seconds(10))[0].ok());
  // The same again, later: it is kept with the later time.
  floor_.clock.Advance(absl::Minutes(1));
  floor_.source.SayTheSameAt(absl::ToUnixSeconds(floor_.clock.WallNow()));
  ASSERT_TRUE(standing->Ask(absl::Seconds(10))[0]->unchanged);
  const absl::Time measured = WholeSeconds(floor_.clock.WallNow());
  floor_.clock.Advance(absl::Seconds(270));  // more than 5 minutes after the first
  up_ = false;
  const auto answers = standing->Ask(absl::Seconds(10));
  ASSERT_TRUE(answers[0].ok()) << answers[0].status();
  EXPECT_FALSE(answers[0]->unchanged);
  EXPECT_TRUE(answers[0]->list.kept);
  EXPECT_EQ(answers[0]->list.items[0].value_milli, 100'000);
  EXPECT_EQ(answers[0]->list.items[0].timestamp, measured);
  EXPECT_FALSE(answers[1].ok());
}

// What a stock controller makes of an AverageValue target of 10, with its scale-down stabilisation
// of 5 minutes: the greatest of the counts that were asked for in that time.
class StockController {
 public:
  explicit StockController(int replicas) : replicas_(replicas) {}
  int Decide(absl::Time now, int64_t total) {
    if (total < 0) return replicas_;  // a metric that fails
    asked_.push_back({now, static_cast<int>((total + 9) / 10)});
    int greatest = 0;
    for (const auto& [time, count] : asked_) {
      if (now - time < absl::Minutes(5)) greatest = std::max(greatest, count);
    }
    return replicas_ = greatest;
  }

 private:
  int replicas_;
  std::vector<std::pair<absl::Time, int>> asked_;
};

// Prometheus dies while the load falls: whatever was measured before, no count becomes smaller
// until the user's word counts, and 0 stays 0 or grows.
TEST_F(ExternalOnFailureTest, NothingShrinksByAKeptAnswer) {
  for (const double first : {120.0, 0.0}) {
    for (int falling = 0; falling < 20; ++falling) {
      up_ = true;
      load_ = first;
      Start();
      StockController hpa(static_cast<int>(first / 10));
      for (int i = 0; i < 40; ++i, PassPeriod()) hpa.Decide(floor_.clock.WallNow(), Total());
      for (int i = 0; i < falling; ++i, PassPeriod()) {
        load_ = first * (19 - i) / 20;
        hpa.Decide(floor_.clock.WallNow(), Total());
      }
      up_ = false;
      int before = hpa.Decide(floor_.clock.WallNow(), Total());
      for (int i = 0; i < 40; ++i, PassPeriod()) {
        const int after = hpa.Decide(floor_.clock.WallNow(), Total());
        EXPECT_GE(after, before) << "period " << i << " after " << falling << " of less load";
        before = after;
      }
    }
  }
}

}  // namespace
}  // namespace flyball::adapter
