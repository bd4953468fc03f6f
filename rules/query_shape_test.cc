#include "rules/query_shape.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "promql/engine/engine.h"
#include "promql/engine/memory_series.h"
#include "promql/engine/value.h"
#include "promql/parser.h"
#include "promql/text.h"

namespace flyball::rules {
namespace {

constexpr int64_t kNowMs = 1'700'000'000'000;

bool Matches(const promql::LabelSet& labels, const std::vector<promql::Matcher>& matchers) {
  return std::all_of(matchers.begin(), matchers.end(), [&](const promql::Matcher& matcher) {
    return matcher.Matches(promql::LabelValue(labels, matcher.label()));
  });
}

// Series of any name that is asked for, each with its own values over ten minutes.
class Samples : public promql::SeriesReader {
 public:
  absl::StatusOr<promql::SeriesList> SelectUnless(
      const promql::Interrupted&, const std::vector<promql::Matcher>& matchers) const override {
    std::string name;
    for (const promql::Matcher& matcher : matchers) {
      if (matcher.label() == "__name__") name = matcher.value();
    }
    promql::SeriesList found;
    for (size_t i = 0; i < 24; ++i) {
      const std::string of_two = i / 6 % 2 == 0 ? "1" : "2";
      const promql::LabelSet labels = {{"__name__", name},
                                       {"le", i / 12 == 0 ? "1" : "+Inf"},
                                       {"namespace", i / 3 % 2 == 0 ? "n" : "m"},
                                       {"pod", std::string(1, "xyz"[i % 3])},
                                       {"q", of_two},
                                       {"queue", of_two}};
      if (!Matches(labels, matchers)) continue;
      std::vector<promql::Point> points;
      for (int at = 0; at <= 20; ++at) {
        const size_t value = (i + name.size()) * 7 + at * (i + 1) % 11;
        points.push_back({kNowMs - 30'000 * (20 - at), static_cast<double>(value)});
      }
      found.push_back(
          std::make_shared<promql::MemorySeries>(promql::Labels(labels), std::move(points)));
    }
    return found;
  }
};

// What the query says under these matchers of those samples that have these labels.
std::map<std::string, std::string> Answer(const QueryTemplate& query, const std::string& matchers,
                                          const std::vector<promql::Matcher>& wanted) {
  const auto text = query.Execute(QueryData{.series = "series",
                                            .label_matchers = matchers,
                                            .label_values_by_name = {},
                                            .group_by_slice = {"pod"}});
  const auto expr = promql::Parse(text.value());
  const auto value = promql::EvalInstant(**expr, Samples(), kNowMs);
  EXPECT_TRUE(value.ok()) << *text << ": " << value.status();
  std::map<std::string, std::string> samples;
  for (const promql::Element& element : std::get<promql::Vector>(*value)) {
    if (!Matches(element.labels.ToLabelSet(), wanted)) continue;
    samples[promql::FormatLabels(element.labels)] = promql::FormatValue(element.value);
  }
  return samples;
}

promql::Matcher Equal(absl::string_view label, absl::string_view value) {
  return *promql::Matcher::Make(label, promql::Matcher::Op::kEqual, value);
}

struct QueryShapeRow {
  std::string name;
  std::string query;
  bool separates_objects = false;
  bool keeps_namespaces = false;  // by the label `namespace`
};

class ShapeOfTest : public testing::TestWithParam<QueryShapeRow> {};

TEST_P(ShapeOfTest, Row) {
  const QueryShapeRow& row = GetParam();
  const auto query = QueryTemplate::ParseQuery(row.query);
  ASSERT_TRUE(query.ok()) << query.status();
  const QueryShape shape = ShapeOf(*query, "namespace");
  EXPECT_EQ(shape.separates_objects, row.separates_objects) << row.query;
  EXPECT_EQ(shape.keeps_namespaces, row.keeps_namespaces) << row.query;
  if (!shape.separates_objects) return;
  const auto alone = Answer(*query, R"(namespace="n",pod="x")", {Equal("pod", "x")});
  EXPECT_EQ(Answer(*query, R"(namespace="n",pod=~"x|y")", {Equal("pod", "x")}), alone);
  if (!shape.keeps_namespaces) return;
  EXPECT_EQ(Answer(*query, R"(pod=~"x|y")", {Equal("namespace", "n"), Equal("pod", "x")}), alone);
}

const std::string kX = "<<.Series>>{<<.LabelMatchers>>}";
const std::string kBy = " by (<<.GroupBy>>) ";

std::string Name(const testing::TestParamInfo<QueryShapeRow>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(
    Apart, ShapeOfTest,
    testing::Values(
        QueryShapeRow{"BareSelector", kX, true, true},
        QueryShapeRow{"SelectorWithMore", R"(<<.Series>>{a!="b",<<.LabelMatchers>>,c=~"d|e",})",
                      true, true},
        QueryShapeRow{"FixedName", "up{<<.LabelMatchers>>}", true, true},
        QueryShapeRow{"NameAsMatcher", R"({__name__="up",<<.LabelMatchers>>})", true, true},
        QueryShapeRow{"SeriesAsMatcher", R"({__name__="<<.Series>>",<<.LabelMatchers>>})", true,
                      true},
        QueryShapeRow{"SumByBefore", "sum" + kBy + "(" + kX + ")", true},
        QueryShapeRow{"SumByAfter", "sum(" + kX + ")" + kBy, true},
        QueryShapeRow{"SliceIndex", "sum(" + kX + ") by (<<index .GroupBySlice 0>>)", true},
        QueryShapeRow{"AnyCase", "SUM BY (<<.GroupBy>>) (" + kX + ")", true},
        QueryShapeRow{"Rate", "sum(rate(" + kX + "[5m])) by (<<.GroupBy>>)", true},
        QueryShapeRow{"OverLines",
                      "sum by (<<.GroupBy>>) (\n  irate (\n    x{<<.LabelMatchers>>}[4m]\n  )\n)\n",
                      true},
        QueryShapeRow{"MoreLabels", "sum(" + kX + ") by (<<.GroupBy>>, le)", true},
        QueryShapeRow{"NamespaceInBy", "sum(" + kX + ") by (namespace,<<.GroupBy>>)", true, true},
        QueryShapeRow{"HistogramQuantile",
                      "histogram_quantile(0.99, sum(rate(" + kX + "[5m])) by (<<.GroupBy>>, le))",
                      true},
        QueryShapeRow{"Ratio",
                      "sum(a{<<.LabelMatchers>>})" + kBy + "/ sum(b{<<.LabelMatchers>>})" + kBy,
                      true},
        QueryShapeRow{
            "RatioOneSideWithNamespace",
            "sum(a{<<.LabelMatchers>>}) by (<<.GroupBy>>,namespace) / sum(b{<<.LabelMatchers>>})" +
                kBy,
            true},
        QueryShapeRow{"Percent", "100 * (1 - avg" + kBy + "(" + kX + ") / 8) ^ -2", true},
        QueryShapeRow{"Comparison", "sum" + kBy + "(" + kX + ") > bool 5", true},
        QueryShapeRow{"SetOperator", "a{<<.LabelMatchers>>} or b{<<.LabelMatchers>>}", true, true},
        QueryShapeRow{"Age", "time() - max" + kBy + "(" + kX + ")", true},
        QueryShapeRow{"Offset", "sum" + kBy + "(" + kX + " offset 5m)", true},
        QueryShapeRow{"Subquery", "max_over_time(sum" + kBy + "(rate(" + kX + "[1m]))[1h:1m])",
                      true},
        QueryShapeRow{"SubqueryDefaultStep", "max_over_time((" + kX + ")[1h:])", true, true},
        QueryShapeRow{"Nested", "max" + kBy + "(sum by (<<.GroupBy>>,container) (" + kX + "))",
                      true},
        QueryShapeRow{"FunctionOfScalar", "clamp_max(" + kX + ", 10)", true, true},
        QueryShapeRow{"RoundWithoutStep", "round(" + kX + ")", true, true},
        QueryShapeRow{"SpacesInside",
                      "sum( <<.Series>> { <<.LabelMatchers>> } ) by ( <<.GroupBy>> )", true},
        QueryShapeRow{"Comments",
                      "# of all\nsum(\n  " + kX + "  # of one <<.Series>>\n)" + kBy + "# end",
                      true},
        QueryShapeRow{"NameInBraces", R"({"a.b",<<.LabelMatchers>>})", true, true},
        QueryShapeRow{"QuotedLabel", "sum(" + kX + ") by (<<.GroupBy>>, \"namespace\")", true,
                      true},
        QueryShapeRow{"QuotedSliceIndex", "sum(" + kX + ") by (\"<<index .GroupBySlice 0>>\")",
                      true},
        QueryShapeRow{"AtStart", kX + " @ start()", true, true},
        QueryShapeRow{"AtBefore1970", kX + " @ -1.5", true, true},
        QueryShapeRow{"OffsetWithArithmetic", "rate(" + kX + "[2*(1m+30s)] offset -(1h+5m))", true,
                      true},
        QueryShapeRow{"Atan2", "sum" + kBy + "(" + kX + ") atan2 5", true},
        QueryShapeRow{"Precedence", kX + " unless 3 < " + kX, true, true},
        QueryShapeRow{"NumberByName", "sum" + kBy + "(" + kX + ") < Inf", true},
        QueryShapeRow{"DayOfYear", "day_of_year(" + kX + ") / days_in_month(" + kX + ")", true,
                      true},
        QueryShapeRow{"FirstOverTime", "first_over_time(" + kX + "[5m])", true, true},
        QueryShapeRow{"NewerNameOfHoltWinters",
                      "double_exponential_smoothing(" + kX + "[5m], 0.5, 0.5) - holt_winters(" +
                          kX + "[5m], 0.5, 0.5)",
                      true, true},
        QueryShapeRow{"HistogramFraction", "histogram_fraction(0, 1, rate(" + kX + "[5m]))", true,
                      true},
        QueryShapeRow{"HistogramSpread",
                      "histogram_stddev(" + kX + ") / histogram_stdvar(" + kX + ")", true, true}),
    Name);

INSTANTIATE_TEST_SUITE_P(
    NotApart, ShapeOfTest,
    testing::Values(
        QueryShapeRow{"NoGroupBy", "sum(" + kX + ")"},
        QueryShapeRow{"ByOtherLabel", "sum(" + kX + ") by (pod)"},
        QueryShapeRow{"ByNothing", "sum(" + kX + ") by ()"},
        QueryShapeRow{"Without", "sum(" + kX + ") without (instance)"},
        QueryShapeRow{"WithoutGroupBy", "sum(" + kX + ") without (<<.GroupBy>>)"},
        QueryShapeRow{"LabelGlued", "sum(" + kX + ") by (x_<<.GroupBy>>)"},
        QueryShapeRow{"LabelGluedAfter", "sum(" + kX + ") by (<<.GroupBy>>_x)"},
        QueryShapeRow{"OuterAggregation", "sum(sum(" + kX + ")" + kBy + ")"},
        QueryShapeRow{"InnerAggregation", "sum" + kBy + "(sum(" + kX + ") by (pod))"},
        QueryShapeRow{"Topk", "topk(3, " + kX + ")" + kBy},
        QueryShapeRow{"TopkOutside", "topk(1, sum" + kBy + "(" + kX + "))"},
        QueryShapeRow{"Quantile", "quantile(0.9, " + kX + ")" + kBy},
        QueryShapeRow{"CountValues", "count_values" + kBy + "(\"v\", " + kX + ")"},
        QueryShapeRow{"Scalar", "scalar(" + kX + ")"},
        QueryShapeRow{"ScalarInside", "sum" + kBy + "(" + kX + ") / scalar(sum(" + kX + "))"},
        QueryShapeRow{"Vector", "sum" + kBy + "(" + kX + ") or vector(0)"},
        QueryShapeRow{"Absent", "absent(" + kX + ")"},
        QueryShapeRow{"AbsentOverTime", "absent_over_time(" + kX + "[5m])"},
        QueryShapeRow{"TimeOnly", "time()"}, QueryShapeRow{"NumberOnly", "1"},
        QueryShapeRow{"HourOfNothing", "hour()"},
        QueryShapeRow{"LabelReplace", "label_replace(" + kX + R"x(,"pod","x","",""))x"},
        QueryShapeRow{"LabelReplaceWhole",
                      "label_replace(" + kX + R"x(,"pod","$1","host","(.*)"))x"},
        QueryShapeRow{"Sort", "sort(" + kX + ")"},
        QueryShapeRow{"On", "a{<<.LabelMatchers>>} / on (<<.GroupBy>>) b{<<.LabelMatchers>>}"},
        QueryShapeRow{"Ignoring", "a{<<.LabelMatchers>>} / ignoring (x) b{<<.LabelMatchers>>}"},
        QueryShapeRow{"GroupLeft",
                      "a{<<.LabelMatchers>>} * on (pod) group_left b{<<.LabelMatchers>>}"},
        QueryShapeRow{"BoolOn", "a{<<.LabelMatchers>>} > bool on (pod) b{<<.LabelMatchers>>}"},
        QueryShapeRow{"SelectorWithoutMatchers", "<<.Series>>"},
        QueryShapeRow{"SelectorWithEmptyBraces", "<<.Series>>{}"},
        QueryShapeRow{"OneSideWithoutMatchers", "sum" + kBy + "(" + kX + ") / sum" + kBy + "(up)"},
        QueryShapeRow{"OneSideUngrouped", "sum" + kBy + "(" + kX + ") / sum(" + kX + ")"},
        QueryShapeRow{"NameByPattern", R"({__name__=~"a.*",<<.LabelMatchers>>})"},
        QueryShapeRow{"NoName", "{<<.LabelMatchers>>}"},
        QueryShapeRow{"MatchersInString", R"(up{a="<<.LabelMatchers>>"})"},
        QueryShapeRow{"MatchersOutside", "up{} <<.LabelMatchers>>"},
        QueryShapeRow{"MatchersAsList", "sum(" + kX + ") by (<<.LabelMatchers>>)"},
        QueryShapeRow{"MatchersGlued", "up{x<<.LabelMatchers>>}"},
        QueryShapeRow{"OrInBraces", R"(up{a="b" or <<.LabelMatchers>>})"},
        QueryShapeRow{"MatchersInComment", "sum(up) by (<<.GroupBy>>) # <<.LabelMatchers>>"},
        QueryShapeRow{"ValuesByName", R"(up{pod=~"<<.LabelValuesByName.pod>>"})"},
        QueryShapeRow{"If", "<<if .Series>>" + kX + "<<end>>"},
        QueryShapeRow{"Variable", "<<$x := 1>>" + kX},
        QueryShapeRow{"Pipeline", "<<.Series | print>>{<<.LabelMatchers>>}"},
        QueryShapeRow{"Printf", R"x(<<printf "sum(%s)" .Series>>)x"},
        QueryShapeRow{"Define", R"(<<define "a">>1<<end>>)" + kX},
        QueryShapeRow{"Slice", "sum(" + kX + ") by (<<.GroupBySlice>>)"},
        QueryShapeRow{"SecondOfSlice", "sum(" + kX + ") by (<<index .GroupBySlice 1>>)"},
        QueryShapeRow{"FieldOfSeries", "<<.Series.X>>{<<.LabelMatchers>>}"},
        QueryShapeRow{"RangeOnly", kX + "[5m]"}, QueryShapeRow{"RateOfVector", "rate(" + kX + ")"},
        QueryShapeRow{"SumOfRange", "sum" + kBy + "(" + kX + "[5m])"},
        QueryShapeRow{"TrailingText", kX + " up"}, QueryShapeRow{"UnclosedString", kX + " \""},
        QueryShapeRow{"UnclosedParen", "sum" + kBy + "(" + kX}, QueryShapeRow{"Empty", ""},
        QueryShapeRow{"TwiceBy", "sum" + kBy + "(" + kX + ")" + kBy},
        QueryShapeRow{"UnknownFunction", "sum" + kBy + "(limit_ratio(" + kX + "))"},
        QueryShapeRow{"FunctionInCapitals", "RATE(" + kX + "[5m])"},
        QueryShapeRow{"ControlCharacter", "\x01{\x02}"},
        QueryShapeRow{"SetWithScalar", kX + " and 1"},
        QueryShapeRow{"MatchersInStringToo", R"(up{a='<<.LabelMatchers>>',<<.LabelMatchers>>})"},
        QueryShapeRow{"MatchersAsName", "{`<<.LabelMatchers>>`,<<.LabelMatchers>>}"},
        QueryShapeRow{"GroupByInString", R"(up{a="<<.GroupBy>>",<<.LabelMatchers>>})"},
        QueryShapeRow{"QuotedGroupBy", "sum(" + kX + ") by (\"<<.GroupBy>>\")"},
        QueryShapeRow{"GroupByAsMatcher", R"(up{<<.GroupBy>>="x",<<.LabelMatchers>>})"},
        QueryShapeRow{"SeriesInBy", "sum(" + kX + ") by (<<.Series>>)"},
        QueryShapeRow{"SeriesAsFunction", "<<.Series>>(" + kX + ")"},
        QueryShapeRow{"NameTwice", R"(up{__name__="up",<<.LabelMatchers>>})"},
        QueryShapeRow{"OffsetOfAnAggregation", "sum" + kBy + "(" + kX + ") offset 5m"},
        QueryShapeRow{"LabelJoin", "label_join(" + kX + R"x(,"pod","-","a","b"))x"},
        QueryShapeRow{"SortDesc", "sort_desc(" + kX + ")"},
        QueryShapeRow{"VectorOfNumber", "vector(1)"}, QueryShapeRow{"StringOnly", "\"x\""},
        QueryShapeRow{"OursAsMatcher", "up{flyball_mark_matchers=\"x\"}"},
        QueryShapeRow{"OursAsLabel", "sum(" + kX + ") by (flyball_mark_object)"},
        QueryShapeRow{"FunctionOfANewerServer", "sum" + kBy + "(mad_over_time(" + kX + "[5m]))"},
        QueryShapeRow{"MetricsQlFunction", "sum" + kBy + "(range_avg(" + kX + "))"},
        QueryShapeRow{"MetricsQlRate", "sum" + kBy + "(rate(" + kX + "))"},
        QueryShapeRow{"MetricsQlLimit", "sum(" + kX + ")" + kBy + " limit 5"},
        QueryShapeRow{"MetricsQlKeepsNames", "rate(" + kX + "[5m]) keep_metric_names"},
        QueryShapeRow{"MetricsQlWith", "WITH (x = " + kX + ") sum" + kBy + "(x)"},
        QueryShapeRow{"MetricsQlDefault", "sum" + kBy + "(" + kX + ") default 0"}),
    Name);

// Without samples all answers would be alike.
TEST(ShapeOfTest, IsHeldAgainstSamplesOfEachObject) {
  const auto query = QueryTemplate::ParseQuery(kX);
  ASSERT_TRUE(query.ok());
  EXPECT_EQ(Answer(*query, R"(namespace="n")", {}).size(), 12u);
  EXPECT_EQ(Answer(*query, R"(pod=~"x|y")", {Equal("pod", "x")}).size(), 8u);
}

TEST(ShapeOfTest, KnowsNoNamespaceWithoutItsLabel) {
  const auto query = QueryTemplate::ParseQuery(kX);
  ASSERT_TRUE(query.ok());
  EXPECT_TRUE(ShapeOf(*query, "").separates_objects);
  EXPECT_FALSE(ShapeOf(*query, "").keeps_namespaces);
}

TEST(ShapeOfTest, GivesUpOnDeepNesting) {
  const std::string open(1000, '('), close(1000, ')');
  const auto query = QueryTemplate::ParseQuery(open + kX + close);
  ASSERT_TRUE(query.ok());
  EXPECT_FALSE(ShapeOf(*query, "").separates_objects);
}

struct LabelRow {
  std::string name;
  std::string query;
  std::string label;
  bool separates = false;
};

class SeparatesLabelTest : public testing::TestWithParam<LabelRow> {};

TEST_P(SeparatesLabelTest, Row) {
  const auto query = QueryTemplate::ParseQuery(GetParam().query);
  ASSERT_TRUE(query.ok()) << query.status();
  const std::string& label = GetParam().label;
  EXPECT_EQ(ShapeOf(*query, "namespace").SeparatesLabel(label), GetParam().separates);
  if (!GetParam().separates) return;
  EXPECT_EQ(Answer(*query, absl::StrCat(label, "=~\"1|2\""), {Equal(label, "1")}),
            Answer(*query, absl::StrCat(label, "=\"1\""), {Equal(label, "1")}));
}

INSTANTIATE_TEST_SUITE_P(
    Labels, SeparatesLabelTest,
    testing::Values(
        LabelRow{"InBy", "sum(" + kX + ") by (queue)", "queue", true},
        LabelRow{"AmongOthers", "sum(" + kX + ") by (a, queue)", "queue", true},
        LabelRow{"InAllBys", "max by (q) (sum by (q, r) (rate(" + kX + "[5m])))", "q", true},
        LabelRow{"NotInTheInnerBy", "max by (q) (sum by (r) (" + kX + "))", "q"},
        LabelRow{"NotInTheOuterBy", "max by (q) (sum by (q, r) (" + kX + "))", "r"},
        LabelRow{"AnotherLabel", "sum(" + kX + ") by (queue)", "topic"},
        LabelRow{"OneSideOnly",
                 "sum(a{<<.LabelMatchers>>}) by (q) / sum(b{<<.LabelMatchers>>}) by (r)", "q"},
        LabelRow{"NoAggregation", "rate(" + kX + "[5m])", "any", true},
        LabelRow{"TotalOfAll", "sum(" + kX + ")", "queue"},
        LabelRow{"Topk", "topk(1, " + kX + ")", "queue"},
        LabelRow{"BucketsAreJoined", "histogram_quantile(0.9, sum(rate(" + kX + "[5m])) by (le))",
                 "le"},
        LabelRow{"NamesAreDropped", "rate(" + kX + "[5m])", "__name__"},
        LabelRow{"TheObjectsLabelIsNone", "sum(" + kX + ")" + kBy, "queue"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace flyball::rules
