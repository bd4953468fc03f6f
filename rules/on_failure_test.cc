#include "rules/on_failure.h"

#include <tuple>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::rules {
namespace {

using testing::HasSubstr;

CompileResult Compile(const std::string& on_failure, const std::string& list = "externalRules",
                      const std::string& series_query = "q{ns!=\"\"}") {
  return CompileRules(absl::StrCat(list, ":\n- seriesQuery: '", series_query,
                                   "'\n  metricsQuery: sum(<<.Series>>{<<.LabelMatchers>>})\n"
                                   "  resources: {overrides: {ns: {resource: namespace}}}\n"
                                   "  onFailure: ",
                                   on_failure, "\n"),
                      "f");
}

std::string Errors(const CompileResult& result) {
  std::string all;
  for (const Finding& finding : result.findings) absl::StrAppend(&all, finding.ToString(), "\n");
  return all;
}

const OnFailure& Of(const CompileResult& result) { return *result.rules->external[0]->on_failure; }

TEST(OnFailureTest, WhatIsWritten) {
  const CompileResult all = Compile("{keepLast: 5m, then: {value: 1500m}}");
  ASSERT_NE(all.rules, nullptr) << Errors(all);
  EXPECT_EQ(Of(all).keep_last, absl::Minutes(5));
  EXPECT_EQ(Of(all).value_milli, 1500);
  const CompileResult kept = Compile("{keepLast: 90s, then: fail}");
  ASSERT_NE(kept.rules, nullptr) << Errors(kept);
  EXPECT_EQ(Of(kept).value_milli, std::nullopt);
  const CompileResult value = Compile("{then: {value: 0}}");
  ASSERT_NE(value.rules, nullptr) << Errors(value);
  EXPECT_EQ(Of(value).keep_last, absl::ZeroDuration());
  EXPECT_EQ(Of(value).value_milli, 0);
}

TEST(OnFailureTest, OffWhereNothingIsSaid) {
  const CompileResult none = Compile("null");
  ASSERT_NE(none.rules, nullptr) << Errors(none);
  EXPECT_FALSE(none.rules->external[0]->on_failure.has_value());
  EXPECT_THAT(Errors(Compile("{}")), HasSubstr("warning: changes nothing"));
}

TEST(OnFailureTest, ReplicasAreOneOfThreeCounts) {
  using Count = ReplicasInstead::Count;
  for (const auto& [then, count, given] :
       std::vector<std::tuple<std::string, Count, int32_t>>{{"{replicas: 3}", Count::kGiven, 3},
                                                            {"{replicas: 0}", Count::kGiven, 0},
                                                            {"max", Count::kMax, 0},
                                                            {"min", Count::kMin, 0}}) {
    const CompileResult result = Compile(absl::StrCat("{keepLast: 5m, then: ", then, "}"));
    ASSERT_NE(result.rules, nullptr) << Errors(result);
    EXPECT_EQ(Of(result).value_milli, std::nullopt);
    EXPECT_EQ(Of(result).replicas, (ReplicasInstead{.count = count, .given = given})) << then;
    EXPECT_EQ(Errors(Compile(absl::StrCat("{then: ", then, "}"))), "") << "it changes something";
  }
}

TEST(OnFailureTest, ValuesOfEachPodOrObjectHaveNone) {
  const CompileResult of_pods = Compile("{keepLast: 5m}", "rules");
  EXPECT_EQ(of_pods.rules, nullptr);
  EXPECT_THAT(Errors(of_pods), HasSubstr("f:5:14: rules[0].onFailure: is for externalRules alone"));
}

TEST(OnFailureTest, WhatIsWrongIsNamedWithItsPlace) {
  for (const auto& [text, wanted] : std::vector<std::pair<std::string, std::string>>{
           {"{keep: 5m}", "onFailure.keep"},
           {"{keepLast: 2d}", "onFailure.keepLast: is 2d, expected at most 1d"},
           {"{keepLast: soon}", "expected a duration"},
           {"{then: hold}", "found \"hold\", expected fail, max, min, {replicas: N} or {value: V}"},
           {"{then: {replicas: -1}}", "onFailure.then.replicas: found \"-1\", expected a count"},
           {"{then: {replicas: some}}", "onFailure.then.replicas: found \"some\""},
           {"{then: {replicas: 3, value: 5}}",
            "onFailure.then.replicas: stands beside value, expected only one of the two"},
           {"{then: {value: many}}", "onFailure.then.value: is no quantity from 0 to 9e12"},
           {"{then: {value: -1}}", "onFailure.then.value: is no quantity from 0 to 9e12"},
           {"{then: {value: 1e13}}", "onFailure.then.value: is no quantity from 0 to 9e12"}}) {
    const CompileResult result = Compile(text);
    EXPECT_EQ(result.rules, nullptr) << text;
    EXPECT_THAT(Errors(result), HasSubstr(wanted)) << text;
  }
}

TEST(OnFailureTest, TheNameShowsWhereSeriesQueryNamesOneSeries) {
  const auto sole = [](const std::string& series_query) {
    const CompileResult result = Compile("{keepLast: 5m}", "externalRules", series_query);
    return result.rules == nullptr ? Errors(result) : result.rules->external[0]->sole_metric;
  };
  EXPECT_EQ(sole("q"), "q");
  EXPECT_EQ(sole("q{a=\"b\"}"), "q");
  EXPECT_EQ(sole("{__name__=\"q\",a=\"b\"}"), "q");
  EXPECT_EQ(sole("{__name__=~\"q.*\"}"), "");
  EXPECT_EQ(sole("{a=\"b\"}"), "");
}

}  // namespace
}  // namespace flyball::rules
