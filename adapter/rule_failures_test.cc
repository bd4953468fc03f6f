#include "adapter/rule_failures.h"

#include "adapter/queries/failure_notes.h"
#include "base/test_log.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "prometheus/registry.h"
#include "prometheus/text_serializer.h"

namespace flyball::adapter {
namespace {

using testing::HasSubstr;

class RuleFailuresTest : public testing::Test {
 protected:
  RuleFailuresTest() {
    RuleStatus status;
    status.list = "rules";
    status.index = 1;
    metrics_.SetRules({status});
  }

  void Fail() {
    absl::Status cause = absl::UnavailableError("http://p: refused");
    SetNote(cause, kQueryNote, "sum(a)");
    failures_.Failed({"rules", 1}, "c.yaml:4", "a_per_second", cause);
  }

  TestLog log_;
  SimulatedClock clock_{absl::FromUnixSeconds(1700000000)};
  prometheus::Registry registry_;
  AdapterMetrics metrics_{registry_};
  LogLimiter complaints_{clock_, absl::Seconds(10)};
  RuleFailures failures_{clock_, complaints_, &metrics_};
};

TEST_F(RuleFailuresTest, TheLineNamesRulePlaceAndQueryAndCountsThoseLeftOut) {
  Fail();
  EXPECT_THAT(log_.text(), HasSubstr("unable to fetch metric a_per_second: http://p: refused; "
                                     "rules[1] (c.yaml:4), query sum(a)\n"));
  log_.Clear();
  Fail();
  Fail();
  EXPECT_EQ(log_.text(), "");
  clock_.Advance(absl::Seconds(11));
  Fail();
  EXPECT_THAT(log_.text(), HasSubstr("query sum(a); 2 more since the last such line"));
}

TEST_F(RuleFailuresTest, OfALongQueryTheBeginningIsKeptAndLogged) {
  absl::Status cause = absl::UnavailableError("refused");
  SetNote(cause, kQueryNote, std::string(100'000, 'x'));
  failures_.Failed({"rules", 1}, "c.yaml:4", "a_per_second", cause);
  EXPECT_EQ(failures_.Of({"rules", 1})->promql.size(), 2048u);
  EXPECT_LT(log_.text().size(), 4096u);
}

TEST_F(RuleFailuresTest, CountsByRuleUntilOneSucceeds) {
  EXPECT_FALSE(failures_.Of({"rules", 1}).has_value());
  Fail();
  Fail();
  RuleFailure last = *failures_.Of({"rules", 1});
  EXPECT_EQ(last.in_all, 2u);
  EXPECT_EQ(last.in_a_row, 2u);
  EXPECT_EQ(last.promql, "sum(a)");
  EXPECT_EQ(last.at, clock_.WallNow());
  failures_.Succeeded({"rules", 0});
  EXPECT_EQ(failures_.Of({"rules", 1})->in_a_row, 2u) << "another rule's success";
  failures_.Succeeded({"rules", 1});
  EXPECT_EQ(failures_.Of({"rules", 1})->in_a_row, 0u);
  EXPECT_EQ(failures_.Of({"rules", 1})->in_all, 2u);
  EXPECT_THAT(prometheus::TextSerializer().Serialize(registry_.Collect()),
              HasSubstr("flyball_rule_query_failures_total{list=\"rules\",rule=\"1\"} 2"));
  failures_.Forget();
  EXPECT_FALSE(failures_.Of({"rules", 1}).has_value());
}

TEST_F(RuleFailuresTest, ReachabilityIsThatOfTheLastRequest) {
  metrics_.OnOutcome("http://a", absl::UnavailableError("refused"));
  metrics_.OnOutcome("http://b", absl::OkStatus());
  const std::string text = prometheus::TextSerializer().Serialize(registry_.Collect());
  EXPECT_THAT(text, HasSubstr("flyball_prometheus_reachable{server=\"http://a\"} 0"));
  EXPECT_THAT(text, HasSubstr("flyball_prometheus_reachable{server=\"http://b\"} 1"));
  metrics_.OnOutcome("http://a", absl::OkStatus());
  const auto outcomes = metrics_.ServerOutcomes();
  ASSERT_EQ(outcomes.size(), 2u);
  EXPECT_TRUE(outcomes[0].reachable);
  EXPECT_EQ(outcomes[0].last_error, "refused");
}

}  // namespace
}  // namespace flyball::adapter
