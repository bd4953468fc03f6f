#include "scaler/views/advise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace flyball::scaler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class RulesProvider : public adapter::ExternalMetricsProvider {
 public:
  absl::StatusOr<adapter::ExternalMetricList> Get(
      const adapter::ExternalMetricRequest& request) override {
    asked.push_back(request.metric);
    return adapter::ExternalMetricList();
  }
  std::shared_ptr<const std::vector<std::string>> ListAll() const override { return names; }
  uint64_t Epoch() const override { return 7; }

  std::vector<std::string> asked;
  std::shared_ptr<const std::vector<std::string>> names =
      std::make_shared<const std::vector<std::string>>(
          std::vector<std::string>{"a_metric", "z_metric"});
};

class AdviseTest : public testing::Test {
 protected:
  void Decide(const std::string& name, int32_t desired, Mode mode = Mode::kAdvise,
              Outcome outcome = Outcome::kDecided, AutoscalerKind kind = AutoscalerKind::kOwn,
              const std::string& scale_error = "", bool scale_is_old = false) {
    auto managed = std::make_shared<Managed>();
    managed->key = {.kind = kind, .ns = "shop", .name = name};
    managed->autoscaler.scale_target.kind = "Deployment";
    managed->own.cadence.interval = interval_;
    Decision decision;
    decision.outcome = outcome;
    decision.current = 3;
    decision.rescale = desired != 3;
    decision.desired = desired;
    decision.error = outcome == Outcome::kDecided ? "" : "no samples";
    DecisionRecord record;
    record.managed = managed;
    record.mode = mode;
    record.decision = &decision;
    record.scale_error = scale_error;
    record.scale_is_old = scale_is_old;
    record.time = clock_.WallNow();
    record.monotonic = clock_.MonotonicNow();
    advise_.OnDecision(record);
  }

  absl::StatusOr<adapter::ExternalMetricList> Get(const std::string& metric,
                                                  const std::string& selector = "",
                                                  const std::string& ns = "shop") {
    return advise_.Get(Ask(metric, selector, ns));
  }

  static adapter::ExternalMetricRequest Ask(const std::string& metric,
                                            const std::string& selector = "",
                                            const std::string& ns = "shop") {
    return {.ns = ns, .metric = metric, .selector = *kube::Selector::Parse(selector)};
  }

  std::optional<absl::Duration> interval_;
  SimulatedClock clock_{absl::FromUnixSeconds(1700000000)};
  Advise advise_{absl::Seconds(15), clock_};
};

TEST_F(AdviseTest, PublishesEachDecisionUnderBothNames) {
  Decide("web", 8);
  Decide("api", 3);  // stays
  const auto all = Get("flyball_desired_replicas");
  ASSERT_TRUE(all.ok()) << all.status();
  ASSERT_EQ(all->items.size(), 2u);
  EXPECT_EQ(all->items[0].value_milli, 3000);
  EXPECT_EQ(all->items[1].value_milli, 8000);
  EXPECT_EQ(
      *all->items[1].labels,
      (adapter::LabelSet{{"autoscaler", "web"}, {"kind", "Deployment"}, {"namespace", "shop"}}));
  EXPECT_EQ(Get("flyball_desired_replicas", "autoscaler=web")->items.size(), 1u);
  EXPECT_EQ(Get("flyball-desired-web")->items[0].value_milli, 8000);
  EXPECT_EQ(Get("flyball-desired-web")->items.size(), 1u);
}

TEST_F(AdviseTest, WhatNobodyPublishesIsNotFound) {
  Decide("web", 8);
  EXPECT_EQ(Get("flyball-desired-api").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Get("flyball-desired-we").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Get("flyball_desired_replicas", "", "bank").status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(Get("flyball_desired_replicas", "kind=StatefulSet").status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(AdviseTest, ARemovalThatHasToWaitIsNotPublished) {
  Decide("web", 1, Mode::kAdvise, Outcome::kDecided, AutoscalerKind::kOwn, "the watch fails");
  EXPECT_EQ(Get("flyball-desired-web")->items[0].value_milli, 3000);
  Decide("web", 1);
  EXPECT_EQ(Get("flyball-desired-web")->items[0].value_milli, 1000);
}

// The HPA may have followed already, which the scale does not show while its watch fails.
TEST_F(AdviseTest, OnAScaleThatMayBeOldNoLessIsPublishedThanBefore) {
  const auto decide = [this](int32_t desired, const std::string& error, bool old) {
    Decide("web", desired, Mode::kAdvise, Outcome::kDecided, AutoscalerKind::kOwn, error, old);
    return Get("flyball-desired-web")->items[0].value_milli;
  };
  EXPECT_EQ(decide(5, "", true), 5000);
  EXPECT_EQ(decide(10, "", false), 10'000);
  EXPECT_EQ(decide(6, "", true), 10'000);
  EXPECT_EQ(decide(3, "", true), 10'000);
  EXPECT_EQ(decide(2, "the watch fails", true), 10'000);
  EXPECT_EQ(decide(12, "", true), 12'000);
  EXPECT_EQ(decide(6, "", false), 6000);
}

TEST_F(AdviseTest, AnUnknownDecisionKeepsTheLastForTwoPeriods) {
  Decide("web", 8);
  clock_.Advance(absl::Seconds(15));
  Decide("web", 0, Mode::kAdvise, Outcome::kMetricsFailed);
  clock_.Advance(absl::Seconds(15));
  EXPECT_EQ(Get("flyball-desired-web")->items[0].value_milli, 8000);
  clock_.Advance(absl::Milliseconds(1));
  const auto late = Get("flyball-desired-web");
  EXPECT_EQ(late.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(late.status().message()), HasSubstr("shop/web"));
  EXPECT_THAT(std::string(late.status().message()), HasSubstr("no samples"));
  // One that is unknown makes the sum unknown.
  Decide("api", 4);
  EXPECT_FALSE(Get("flyball_desired_replicas").ok());
  Decide("web", 9);
  EXPECT_EQ(Get("flyball-desired-web")->items[0].value_milli, 9000);
}

TEST_F(AdviseTest, AFastCadenceIsKeptForASyncPeriod) {
  interval_ = absl::Milliseconds(200);
  Decide("web", 8);
  clock_.Advance(absl::Seconds(15));
  EXPECT_TRUE(Get("flyball-desired-web").ok());
  clock_.Advance(absl::Seconds(1));
  EXPECT_FALSE(Get("flyball-desired-web").ok());
}

TEST_F(AdviseTest, WhatWasNeverKnownIsNotZero) {
  Decide("web", 0, Mode::kAdvise, Outcome::kScaleUnknown);
  EXPECT_EQ(Get("flyball-desired-web").status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(AdviseTest, AnotherModeOrADeletionEndsIt) {
  Decide("web", 8);
  Decide("web", 8, Mode::kShadow);
  EXPECT_FALSE(Get("flyball-desired-web").ok());
  Decide("web", 8);
  advise_.OnForgotten({.kind = AutoscalerKind::kOwn, .ns = "shop", .name = "web"});
  EXPECT_EQ(advise_.size(), 0u);
}

TEST_F(AdviseTest, OfTwoWithOneNameOurOwnKindCounts) {
  Decide("web", 8);
  Decide("web", 5, Mode::kAdvise, Outcome::kDecided, AutoscalerKind::kHpa);
  EXPECT_EQ(Get("flyball_desired_replicas")->items.size(), 1u);
  EXPECT_EQ(Get("flyball-desired-web")->items[0].value_milli, 8000);
}

TEST_F(AdviseTest, TheRulesProviderIsAskedForItsOwnNames) {
  auto rules = std::make_shared<RulesProvider>();
  const adapter::Providers plain{.custom = nullptr, .external = rules, .resource = nullptr};
  EXPECT_EQ(advise_.Wrap(plain).external, rules);  // nothing is advised
  Decide("web", 8);
  const adapter::Providers wrapped = advise_.Wrap(plain);
  EXPECT_EQ(advise_.Wrap(plain).external, wrapped.external);
  EXPECT_EQ(wrapped.external->Get(Ask("flyball-desired-web"))->items[0].value_milli, 8000);
  EXPECT_TRUE(wrapped.external->Get(Ask("a_metric")).ok());
  EXPECT_THAT(rules->asked, ElementsAre("a_metric"));
  const auto names = wrapped.external->ListAll();
  EXPECT_THAT(*names, ElementsAre("a_metric", "flyball_desired_replicas", "z_metric"));
  EXPECT_EQ(wrapped.external->ListAll(), names);
  rules->names = std::make_shared<const std::vector<std::string>>();
  EXPECT_THAT(*wrapped.external->ListAll(), ElementsAre("flyball_desired_replicas"));
  EXPECT_EQ(wrapped.external->Epoch(), 7u);
}

TEST_F(AdviseTest, WithoutRulesOursAlone) {
  Decide("web", 8);
  const adapter::Providers wrapped = advise_.Wrap({});
  EXPECT_THAT(*wrapped.external->ListAll(), ElementsAre("flyball_desired_replicas"));
  EXPECT_EQ(wrapped.external->Get(Ask("other")).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace flyball::scaler
