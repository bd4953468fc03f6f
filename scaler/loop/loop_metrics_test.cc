#include "scaler/loop/loop_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <string>

namespace flyball::scaler {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr absl::Time kMeasured = absl::FromUnixSeconds(1700000000);

class LoopMetricsTest : public testing::Test {
 protected:
  LoopMetricsTest() {
    managed_->key = {.kind = AutoscalerKind::kHpa, .ns = "shop", .name = "web"};
    decision_.outcome = Outcome::kDecided;
    decision_.current = 3;
    record_.decision = &decision_;
    record_.mode = Mode::kAct;
    record_.time = kMeasured;
    record_.took = absl::Milliseconds(2);
  }

  void Decide() {
    record_.managed = managed_;
    metrics_.OnDecision(record_);
  }
  std::string Text() const { return prometheus::TextSerializer().Serialize(registry_.Collect()); }

  prometheus::Registry registry_;
  SimulatedClock clock_{kMeasured + absl::Milliseconds(150)};
  LoopMetrics metrics_{registry_, clock_};
  std::shared_ptr<Managed> managed_ = std::make_shared<Managed>();
  Decision decision_;
  DecisionRecord record_;
};

TEST_F(LoopMetricsTest, CountsDecisionsByWhatCameOut) {
  Decide();
  decision_.rescale = true;
  decision_.desired = 2;
  Decide();
  record_.scale_error = "conflict";
  Decide();
  managed_->key.kind = AutoscalerKind::kOwn;
  record_.mode = Mode::kShadow;
  decision_.outcome = Outcome::kMetricsFailed;
  decision_.rescale = false;
  record_.scale_error = "";
  record_.unchanged = true;
  Decide();
  const std::string text = Text();
  const std::string name = "flyball_scaler_decisions_total{";
  const std::string act = "kind=\"hpa\",mode=\"act\",outcome=\"decided\"} 1";
  EXPECT_THAT(text, HasSubstr(name + "action=\"none\"," + act));
  EXPECT_THAT(text, HasSubstr(name + "action=\"scale_down\"," + act));
  EXPECT_THAT(text, HasSubstr(name + "action=\"failed\"," + act));
  EXPECT_THAT(text, HasSubstr(name + "action=\"none\",kind=\"own\",mode=\"shadow\","
                                     "outcome=\"metrics_failed\"} 1"));
  EXPECT_THAT(text, HasSubstr("flyball_scaler_decisions_unchanged_total 1"));
}

// Else an alert would fire during the whole of scaleToZeroPodRetentionPeriod.
TEST_F(LoopMetricsTest, ALastPodThatWaitsForTheFrontIsNoFailedWrite) {
  decision_.rescale = true;
  decision_.desired = 0;
  record_.scale_error = "zero waits";
  record_.front_waits = true;
  Decide();
  EXPECT_THAT(Text(), HasSubstr("flyball_scaler_decisions_total{action=\"none\",kind=\"hpa\","
                                "mode=\"act\",outcome=\"decided\"} 1"));
}

TEST_F(LoopMetricsTest, TheReactionIsFromTheSampleToTheWrite) {
  record_.newest_sample = kMeasured - absl::Milliseconds(700);
  Decide();
  EXPECT_THAT(Text(), HasSubstr("flyball_scaler_reaction_seconds_count 0"));
  record_.scale_written = true;
  Decide();
  // 0.7 s old when it was decided, written 0.15 s later.
  EXPECT_THAT(Text(), HasSubstr("flyball_scaler_reaction_seconds_sum 0.85"));
  EXPECT_THAT(Text(), HasSubstr("flyball_scaler_reading_age_seconds_sum 1.4"));
}

TEST_F(LoopMetricsTest, TheControllersOwnMetricsAreOfHpasThatAreActedOn) {
  decision_.monitor.action = ActionLabel::kScaleUp;
  decision_.monitor.metrics = {{.type = "Resource", .action = ActionLabel::kScaleUp},
                               {.type = "Pods", .error = ErrorLabel::kInternal}};
  Decide();
  const std::string p = "horizontal_pod_autoscaler_controller_";
  const std::string text = Text();
  EXPECT_THAT(text, HasSubstr(p + "reconciliations_total{action=\"scale_up\",error=\"none\"} 1"));
  EXPECT_THAT(text, HasSubstr(p + "reconciliation_duration_seconds_bucket{action=\"scale_up\","
                                  "error=\"none\",le=\"0.002\"} 1"));
  EXPECT_THAT(text, HasSubstr(p + "metric_computation_total{action=\"none\",error=\"internal\","
                                  "metric_type=\"Pods\"} 1"));
  EXPECT_THAT(text, HasSubstr("le=\"16.384\""));  // 0.001 * 2^14
  EXPECT_THAT(text, Not(HasSubstr("le=\"32.768\"")));
}

TEST_F(LoopMetricsTest, ARoundCountsAsADecisionOfEachAutoscaler) {
  const SteadyKind hpas = {.kind = AutoscalerKind::kHpa, .metric_types = {"Resource", "Pods"}};
  const SteadyKind own = {.kind = AutoscalerKind::kOwn, .metric_types = {"External"}};
  const RoundRecord::Count counts[] = {{.kind = &hpas, .autoscalers = 3},
                                       {.kind = &own, .autoscalers = 2}};
  metrics_.OnRound({.keys = {},
                    .kinds = counts,
                    .time = kMeasured,
                    .newest_sample = kMeasured - absl::Milliseconds(500),
                    .took = absl::Milliseconds(4)});
  const std::string text = Text();
  const auto has = [&text](const std::string& line) { EXPECT_THAT(text, HasSubstr(line + "\n")); };
  has("flyball_scaler_decisions_total{action=\"none\",kind=\"hpa\",mode=\"act\","
      "outcome=\"decided\"} 3");
  has("flyball_scaler_decisions_total{action=\"none\",kind=\"own\",mode=\"act\","
      "outcome=\"decided\"} 2");
  has("flyball_scaler_decisions_unchanged_total 5");
  has("flyball_scaler_reading_age_seconds_sum 2.5");
  has("flyball_scaler_decision_duration_seconds_count 5");
  const std::string p = "horizontal_pod_autoscaler_controller_";
  has(p + "reconciliations_total{action=\"none\",error=\"none\"} 3");
  // 4 ms are of two metrics.
  has(p +
      "metric_computation_duration_seconds_bucket{action=\"none\",error=\"none\","
      "metric_type=\"Pods\",le=\"0.001\"} 0");
  has(p +
      "metric_computation_duration_seconds_bucket{action=\"none\",error=\"none\","
      "metric_type=\"Pods\",le=\"0.002\"} 3");
  EXPECT_THAT(text, Not(HasSubstr("External")));
}

TEST_F(LoopMetricsTest, ShadowedHpasAreNotAmongThem) {
  record_.mode = Mode::kShadow;
  Decide();
  EXPECT_THAT(Text(), Not(HasSubstr("reconciliations_total{")));
}

TEST_F(LoopMetricsTest, SourcesAreTakenOverBeforeAScrape) {
  LoopMetricSources sources;
  Scaler::Stats stats;
  stats.autoscalers = 7;
  stats.owned = 4;
  stats.scale_writes = 5;
  sources.scaler = [&] { return stats; };
  sources.shards_owned = [] { return size_t{2}; };
  metrics_.Refresh(sources);
  stats.scale_writes = 8;
  metrics_.Refresh(sources);
  EXPECT_THAT(Text(), HasSubstr("flyball_scaler_autoscalers{state=\"owned\"} 4"));
  EXPECT_THAT(Text(), HasSubstr("flyball_scaler_writes_total{what=\"scale\"} 8"));
  EXPECT_THAT(Text(), HasSubstr("flyball_scaler_shards_owned 2"));
}

}  // namespace
}  // namespace flyball::scaler
