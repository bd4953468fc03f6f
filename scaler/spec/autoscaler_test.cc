#include "scaler/spec/autoscaler.h"

#include <gtest/gtest.h>

#include <string>

namespace flyball::scaler {
namespace {

kube::Quantity Q(absl::string_view text) { return *kube::Quantity::Parse(text); }

struct SelectorRow {
  std::string name;
  std::optional<LabelSelector> selector = {};
  std::string text = {};
  std::string error = {};
  std::string go = {};
};

class MakeMetricIdentifierTest : public testing::TestWithParam<SelectorRow> {};

TEST_P(MakeMetricIdentifierTest, Row) {
  const SelectorRow& row = GetParam();
  const MetricIdentifier got = MakeMetricIdentifier("m", row.selector);
  EXPECT_EQ(got.name, "m");
  EXPECT_EQ(got.selector_text, row.text);
  EXPECT_EQ(got.selector_error, row.error);
  EXPECT_EQ(got.selector_go, row.go);
}

INSTANTIATE_TEST_SUITE_P(
    Selectors, MakeMetricIdentifierTest,
    testing::Values(
        SelectorRow{.name = "AbsentPrintsNil", .go = "nil"},
        SelectorRow{.name = "EmptyIsNotNil",
                    .selector = LabelSelector{},
                    .go = "&LabelSelector{MatchLabels:map[string]string{},"
                          "MatchExpressions:[]LabelSelectorRequirement{},}"},
        SelectorRow{.name = "LabelsAreSortedAndExpressionsMerged",
                    .selector = LabelSelector{.match_labels = {{"queue", "jobs"}, {"az", "a"}},
                                              .match_expressions = {{"tier", "In", {"b", "a"}}}},
                    .text = "az=a,queue=jobs,tier in (a,b)",
                    .go = "&LabelSelector{MatchLabels:map[string]string{az: a,queue: jobs,},"
                          "MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{"
                          "Key:tier,Operator:In,Values:[b a],},},}"},
        SelectorRow{.name = "UnknownOperatorFails",
                    .selector = LabelSelector{.match_labels = {},
                                              .match_expressions = {{"k", "Like", {"v"}}}},
                    .error = "\"Like\" is not a valid label selector operator",
                    .go = "&LabelSelector{MatchLabels:map[string]string{},"
                          "MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{"
                          "Key:k,Operator:Like,Values:[v],},},}"}),
    [](const auto& info) { return info.param.name; });

// The stored form decides: "0.7" is kept as 700m and read as 700 * 0.001.
TEST(MakeRuleToleranceTest, ReadsTheCanonicalForm) {
  EXPECT_EQ(MakeRuleTolerance(Q("0.7")).ratio, 0.7000000000000001);
  EXPECT_EQ(MakeRuleTolerance(Q("0.36")).ratio, 0.36);
  EXPECT_EQ(MakeRuleTolerance(Q("0")).ratio, 0.0);
  EXPECT_EQ(MakeRuleTolerance(Q("2")).ratio, 2.0);
  EXPECT_EQ(MakeRuleTolerance(Q("1500u")).ratio, 1500 * 1e-6);
  EXPECT_EQ(MakeRuleTolerance(Q("1e-1")).ratio, 100 * 1e-3);
  EXPECT_EQ(MakeRuleTolerance(Q("1Ki")).ratio, 1024.0);
  EXPECT_EQ(MakeRuleTolerance(Q("12345678901234567890")).ratio, 12345678901234567890.0);
}

TEST(SemanticallyEqualTest, QuantitiesCompareByValue) {
  AutoscalerStatus a, b;
  a.current_metrics.resize(1);
  b.current_metrics.resize(1);
  a.current_metrics[0].average_value = Q("1000m");
  b.current_metrics[0].average_value = Q("1");
  EXPECT_TRUE(SemanticallyEqual(a, b));
  b.current_metrics[0].average_value = Q("1001m");
  EXPECT_FALSE(SemanticallyEqual(a, b));
  b.current_metrics[0].average_value.reset();
  EXPECT_FALSE(SemanticallyEqual(a, b));
}

}  // namespace
}  // namespace flyball::scaler
