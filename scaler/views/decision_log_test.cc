#include "scaler/views/decision_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "scaler/math/hpa/hpa_decider.h"
#include "scaler/math/hpa/testing/test_world.h"

namespace flyball::scaler {
namespace {

// One autoscaler that is decided again and again.
class Decided {
 public:
  explicit Decided(std::string name, int pods = 10) {
    auto managed = std::make_shared<Managed>();
    managed->key = {.kind = AutoscalerKind::kHpa, .ns = "shop", .name = std::move(name)};
    managed->autoscaler.ns = "shop";
    managed->autoscaler.name = managed->key.name;
    managed->autoscaler.scale_target = {"apps/v1", "Deployment", "web"};
    managed->autoscaler.max_replicas = 10;
    MetricSpec metric;
    metric.type = MetricType::kPods;
    metric.type_text = "Pods";
    metric.metric = MakeMetricIdentifier("rps", std::nullopt);
    metric.target.average_value = MakeTargetAmount(*kube::Quantity::Parse("10"));
    managed->autoscaler.metrics.push_back(metric);
    managed_ = managed;
    scale.spec_replicas = scale.status_replicas = 5;
    scale.selector = "app=web";
    for (int i = 0; i < pods; ++i) {
      Pod& pod = pods_.emplace_back();
      pod.name = absl::StrCat("web-5f7d9c6b4-x", i);
      pod.phase = PodPhase::kRunning;
      pod.ready = ReadyCondition{ConditionStatus::kTrue, absl::UnixEpoch()};
      pod.start_time = absl::UnixEpoch();
    }
    std::vector<const Pod*> pointers;
    for (const Pod& pod : pods_) pointers.push_back(&pod);
    table_ = PodTable(pointers, managed->autoscaler.metrics, {});
    answer_.table = &table_;
  }

  // One tick, a second later, with that many requests a second for each pod.
  const DecisionRecord& Tick(int64_t milli) {
    now_ += absl::Seconds(1);
    readings_.resize(1);
    readings_[0].samples.clear();
    for (size_t row = 0; row < pods_.size(); ++row) {
      readings_[0].samples.push_back({.row = static_cast<int32_t>(row),
                                      .value_milli = milli,
                                      .timestamp = now_ - absl::Milliseconds(700 + 3 * row),
                                      .window = absl::Seconds(30)});
    }
    const DecisionInput input{.autoscaler = &managed_->autoscaler,
                              .status = &decision_.status,
                              .scale = &scale,
                              .pods = &answer_,
                              .readings = readings_,
                              .config = &config_,
                              .state = &state_,
                              .now = now_};
    Workspace workspace;
    HpaDecider().Decide(input, {}, workspace, decision_);
    state_ = decision_.state;
    record_ = DecisionRecord();
    record_.managed = managed_;
    record_.mode = Mode::kAct;
    record_.scale = &scale;
    record_.pods = &answer_;
    record_.readings = readings_;
    record_.newest_sample = readings_[0].samples[0].timestamp;
    record_.decision = &decision_;
    record_.time = now_;
    return record_;
  }

  const AutoscalerKey& key() const { return managed_->key; }
  void Change(const std::function<void(Managed&)>& change) {
    auto managed = std::make_shared<Managed>(*managed_);
    change(*managed);
    managed_ = managed;
  }

  ScaleAnswer scale;

 private:
  ManagedPtr managed_;
  std::vector<Pod> pods_;
  PodTable table_;
  PodsAnswer answer_;
  std::vector<Reading> readings_;
  MathConfig config_;
  ScalerState state_;
  Decision decision_;
  DecisionRecord record_;
  absl::Time now_ = kTestNow;
};

TEST(DecisionLog, DecisionsThatConcludeTheSameAreOneEntry) {
  Decided web("web", 5);
  DecisionLog log;
  for (int i = 0; i < 20; ++i) log.OnDecision(web.Tick(10000 + i));  // within the tolerance
  const std::vector<LoggedDecision> last = log.Last(web.key());
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(last[0].times, 20u);
  EXPECT_EQ(last[0].last - last[0].first, absl::Seconds(19));
  EXPECT_EQ(last[0].decision.current, 5);
  EXPECT_EQ(last[0].readings[0].samples[0].value_milli, 10019);  // of the last one
  EXPECT_EQ(last[0].pods[4], "web-5f7d9c6b4-x4");
}

TEST(DecisionLog, AnotherConclusionIsAnotherEntryNewestFirst) {
  Decided web("web", 5);
  DecisionLog log;
  log.OnDecision(web.Tick(10000));
  log.OnDecision(web.Tick(16000));  // 5 * 1.6 = 8
  web.scale.spec_replicas = 8;
  log.OnDecision(web.Tick(10000));
  const std::vector<LoggedDecision> last = log.Last(web.key());
  ASSERT_EQ(last.size(), 3u);
  EXPECT_EQ(last[0].decision.current, 8);
  EXPECT_EQ(last[1].decision.desired, 8);
  EXPECT_TRUE(last[1].decision.rescale);
  EXPECT_FALSE(last[2].decision.rescale);
}

TEST(DecisionLog, UnchangedDecisionsOnlyCount) {
  Decided web("web", 5);
  DecisionLog log;
  log.OnDecision(web.Tick(10000));
  for (int i = 0; i < 9; ++i) {
    DecisionRecord record = web.Tick(10000);
    record.unchanged = true;
    log.OnDecision(record);
  }
  const std::vector<LoggedDecision> last = log.Last(web.key());
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(last[0].times, 10u);
  EXPECT_EQ(last[0].decision.now, kTestNow + absl::Seconds(1));
}

TEST(DecisionLog, RoundsCountForTheSteady) {
  Decided web("web", 5), api("api", 5);
  DecisionLog log;
  log.OnDecision(web.Tick(10000));
  log.OnDecision(api.Tick(10000));
  const auto steadiness = std::make_shared<Steadiness>();
  log.OnSteady(web.key(), 5, steadiness);
  EXPECT_EQ(log.Last(web.key())[0].times, 1u);
  for (int i = 2; i < 5; ++i)
    steadiness->AddRound(kTestNow + i * absl::Seconds(1), i * absl::Seconds(1),
                         absl::InfinitePast());
  EXPECT_EQ(log.Last(web.key())[0].times, 4u);
  EXPECT_EQ(log.Last(web.key())[0].last, kTestNow + absl::Seconds(4));
  EXPECT_EQ(log.Last(api.key())[0].times, 1u);
  EXPECT_EQ(log.List("shop")[1].times, 4u);
  EXPECT_EQ(log.List("shop")[1].last, kTestNow + absl::Seconds(4));
  // The next decision follows what was counted.
  log.OnDecision(web.Tick(10000));
  EXPECT_EQ(log.Last(web.key())[0].times, 5u);
}

TEST(DecisionLog, AnEntryKeepsTheSpecItWasDecidedOn) {
  Decided web("web", 5);
  DecisionLog log;
  log.OnDecision(web.Tick(10000));
  web.Change([](Managed& m) { m.autoscaler.status.desired_replicas = 7; });
  log.OnDecision(web.Tick(10000));  // a newer status is the same spec
  web.Change([](Managed& m) {
    m.autoscaler.max_replicas = 6;
    ++m.spec_hash;
  });
  log.OnDecision(web.Tick(10000));
  const std::vector<LoggedDecision> last = log.Last(web.key());
  ASSERT_EQ(last.size(), 2u);
  EXPECT_EQ(last[0].managed->autoscaler.max_replicas, 6);
  EXPECT_EQ(last[1].managed->autoscaler.max_replicas, 10);
  EXPECT_EQ(last[1].managed->autoscaler.status.desired_replicas, 7);
  EXPECT_EQ(last[1].times, 2u);
}

TEST(DecisionLog, TheRingHasLimits) {
  Decided web("web", 5);
  DecisionLog log({.entries = 4, .bytes = 100000});
  for (int i = 1; i <= 10; ++i) {
    web.scale.spec_replicas = i;
    log.OnDecision(web.Tick(10000));
  }
  EXPECT_EQ(log.Last(web.key()).size(), 4u);
  EXPECT_EQ(log.Last(web.key())[0].decision.current, 10);
  DecisionLog narrow({.entries = 16, .bytes = 1});
  narrow.OnDecision(web.Tick(10000));
  narrow.OnDecision(web.Tick(90000));
  EXPECT_EQ(narrow.Last(web.key()).size(), 1u);  // the newest stays
  DecisionLog few({.autoscalers = 0});
  few.OnDecision(web.Tick(10000));
  EXPECT_EQ(few.stats().refused, 1u);
}

TEST(DecisionLog, ForgetsAndLists) {
  Decided a("a"), b("b");
  DecisionLog log;
  log.OnDecision(b.Tick(10000));
  log.OnDecision(a.Tick(10000));
  ASSERT_EQ(log.List("").size(), 2u);
  EXPECT_EQ(log.List("")[0].key.name, "a");
  EXPECT_EQ(log.List("shop").size(), 2u);
  EXPECT_TRUE(log.List("bank").empty());
  log.OnForgotten(a.key());
  EXPECT_EQ(log.List("").size(), 1u);
  EXPECT_TRUE(log.Last(a.key()).empty());
}

// 10,000 autoscalers of 10 pods whose conclusion changes all the time: 30 MB, so 3,000 bytes each.
TEST(DecisionLog, IsSmall) {
  DecisionLog log;
  for (int n = 0; n < 50; ++n) {
    Decided web(absl::StrCat("web-", n));
    for (int i = 0; i < 40; ++i) {
      web.scale.spec_replicas = 1 + i % 10;
      log.OnDecision(web.Tick(5000 + 977 * (i % 7)));
    }
  }
  const DecisionLog::Stats stats = log.stats();
  EXPECT_EQ(stats.autoscalers, 50u);
  EXPECT_LT(stats.bytes / 50, 3600u);
  EXPECT_GE(stats.entries / 50, 4u);
}

}  // namespace
}  // namespace flyball::scaler
