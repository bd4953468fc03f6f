#include "rules/query_shape.h"

#include <gtest/gtest.h>

#include <string>

namespace flyball::rules {
namespace {

struct Row {
  std::string name;
  std::string query;
  bool separates_objects = false;
  bool keeps_namespaces = false;  // by the label `namespace`
};

class ShapeOfTest : public testing::TestWithParam<Row> {};

TEST_P(ShapeOfTest, Row) {
  const Row& row = GetParam();
  const auto query = QueryTemplate::ParseQuery(row.query);
  ASSERT_TRUE(query.ok()) << query.status();
  const QueryShape shape = ShapeOf(*query, "namespace");
  EXPECT_EQ(shape.separates_objects, row.separates_objects) << row.query;
  EXPECT_EQ(shape.keeps_namespaces, row.keeps_namespaces) << row.query;
}

const std::string kX = "<<.Series>>{<<.LabelMatchers>>}";
const std::string kBy = " by (<<.GroupBy>>) ";

std::string Name(const testing::TestParamInfo<Row>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(
    Apart, ShapeOfTest,
    testing::Values(
        Row{"BareSelector", kX, true, true},
        Row{"SelectorWithMore", R"(<<.Series>>{a!="b",<<.LabelMatchers>>,c=~"d|e",})", true, true},
        Row{"FixedName", "up{<<.LabelMatchers>>}", true, true},
        Row{"NameAsMatcher", R"({__name__="up",<<.LabelMatchers>>})", true, true},
        Row{"SeriesAsMatcher", R"({__name__="<<.Series>>",<<.LabelMatchers>>})", true, true},
        Row{"SumByBefore", "sum" + kBy + "(" + kX + ")", true},
        Row{"SumByAfter", "sum(" + kX + ")" + kBy, true},
        Row{"SliceIndex", "sum(" + kX + ") by (<<index .GroupBySlice 0>>)", true},
        Row{"AnyCase", "SUM BY (<<.GroupBy>>) (" + kX + ")", true},
        Row{"Rate", "sum(rate(" + kX + "[5m])) by (<<.GroupBy>>)", true},
        Row{"OverLines",
            "sum by (<<.GroupBy>>) (\n  irate (\n    x{<<.LabelMatchers>>}[4m]\n  )\n)\n", true},
        Row{"MoreLabels", "sum(" + kX + ") by (<<.GroupBy>>, le)", true},
        Row{"NamespaceInBy", "sum(" + kX + ") by (namespace,<<.GroupBy>>)", true, true},
        Row{"HistogramQuantile",
            "histogram_quantile(0.99, sum(rate(" + kX + "[5m])) by (<<.GroupBy>>, le))", true},
        Row{"Ratio", "sum(a{<<.LabelMatchers>>})" + kBy + "/ sum(b{<<.LabelMatchers>>})" + kBy,
            true},
        Row{"RatioOneSideWithNamespace",
            "sum(a{<<.LabelMatchers>>}) by (<<.GroupBy>>,namespace) / sum(b{<<.LabelMatchers>>})" +
                kBy,
            true},
        Row{"Percent", "100 * (1 - avg" + kBy + "(" + kX + ") / 8) ^ -2", true},
        Row{"Comparison", "sum" + kBy + "(" + kX + ") > bool 5", true},
        Row{"SetOperator", "a{<<.LabelMatchers>>} or b{<<.LabelMatchers>>}", true, true},
        Row{"Age", "time() - max" + kBy + "(" + kX + ")", true},
        Row{"Offset", "sum" + kBy + "(" + kX + " offset 5m)", true},
        Row{"Subquery", "max_over_time(sum" + kBy + "(rate(" + kX + "[1m]))[1h:1m])", true},
        Row{"SubqueryDefaultStep", "max_over_time((" + kX + ")[1h:])", true, true},
        Row{"Nested", "max" + kBy + "(sum by (<<.GroupBy>>,container) (" + kX + "))", true},
        Row{"FunctionOfScalar", "clamp_max(" + kX + ", 10)", true, true},
        Row{"RoundWithoutStep", "round(" + kX + ")", true, true},
        Row{"SpacesInside", "sum( <<.Series>> { <<.LabelMatchers>> } ) by ( <<.GroupBy>> )", true}),
    Name);

INSTANTIATE_TEST_SUITE_P(
    NotApart, ShapeOfTest,
    testing::Values(
        Row{"NoGroupBy", "sum(" + kX + ")"}, Row{"ByOtherLabel", "sum(" + kX + ") by (pod)"},
        Row{"ByNothing", "sum(" + kX + ") by ()"},
        Row{"Without", "sum(" + kX + ") without (instance)"},
        Row{"WithoutGroupBy", "sum(" + kX + ") without (<<.GroupBy>>)"},
        Row{"LabelGlued", "sum(" + kX + ") by (x_<<.GroupBy>>)"},
        Row{"LabelGluedAfter", "sum(" + kX + ") by (<<.GroupBy>>_x)"},
        Row{"OuterAggregation", "sum(sum(" + kX + ")" + kBy + ")"},
        Row{"InnerAggregation", "sum" + kBy + "(sum(" + kX + ") by (pod))"},
        Row{"Topk", "topk(3, " + kX + ")" + kBy},
        Row{"TopkOutside", "topk(1, sum" + kBy + "(" + kX + "))"},
        Row{"Quantile", "quantile(0.9, " + kX + ")" + kBy},
        Row{"CountValues", "count_values" + kBy + "(\"v\", " + kX + ")"},
        Row{"Scalar", "scalar(" + kX + ")"},
        Row{"ScalarInside", "sum" + kBy + "(" + kX + ") / scalar(sum(" + kX + "))"},
        Row{"Vector", "sum" + kBy + "(" + kX + ") or vector(0)"},
        Row{"Absent", "absent(" + kX + ")"},
        Row{"AbsentOverTime", "absent_over_time(" + kX + "[5m])"}, Row{"TimeOnly", "time()"},
        Row{"NumberOnly", "1"}, Row{"HourOfNothing", "hour()"},
        Row{"LabelReplace", "label_replace(" + kX + R"x(,"pod","x","",""))x"},
        Row{"LabelReplaceWhole", "label_replace(" + kX + R"x(,"pod","$1","host","(.*)"))x"},
        Row{"Sort", "sort(" + kX + ")"},
        Row{"On", "a{<<.LabelMatchers>>} / on (<<.GroupBy>>) b{<<.LabelMatchers>>}"},
        Row{"Ignoring", "a{<<.LabelMatchers>>} / ignoring (x) b{<<.LabelMatchers>>}"},
        Row{"GroupLeft", "a{<<.LabelMatchers>>} * on (pod) group_left b{<<.LabelMatchers>>}"},
        Row{"BoolOn", "a{<<.LabelMatchers>>} > bool on (pod) b{<<.LabelMatchers>>}"},
        Row{"SelectorWithoutMatchers", "<<.Series>>"},
        Row{"SelectorWithEmptyBraces", "<<.Series>>{}"},
        Row{"OneSideWithoutMatchers", "sum" + kBy + "(" + kX + ") / sum" + kBy + "(up)"},
        Row{"OneSideUngrouped", "sum" + kBy + "(" + kX + ") / sum(" + kX + ")"},
        Row{"NameByPattern", R"({__name__=~"a.*",<<.LabelMatchers>>})"},
        Row{"NoName", "{<<.LabelMatchers>>}"},
        Row{"MatchersInString", R"(up{a="<<.LabelMatchers>>"})"},
        Row{"MatchersOutside", "up{} <<.LabelMatchers>>"},
        Row{"MatchersAsList", "sum(" + kX + ") by (<<.LabelMatchers>>)"},
        Row{"MatchersGlued", "up{x<<.LabelMatchers>>}"},
        Row{"OrInBraces", R"(up{a="b" or <<.LabelMatchers>>})"},
        Row{"MatchersInComment", "sum(up) by (<<.GroupBy>>) # <<.LabelMatchers>>"},
        Row{"ValuesByName", R"(up{pod=~"<<.LabelValuesByName.pod>>"})"},
        Row{"If", "<<if .Series>>" + kX + "<<end>>"}, Row{"Variable", "<<$x := 1>>" + kX},
        Row{"Pipeline", "<<.Series | print>>{<<.LabelMatchers>>}"},
        Row{"Printf", R"x(<<printf "sum(%s)" .Series>>)x"},
        Row{"Define", R"(<<define "a">>1<<end>>)" + kX},
        Row{"Slice", "sum(" + kX + ") by (<<.GroupBySlice>>)"},
        Row{"SecondOfSlice", "sum(" + kX + ") by (<<index .GroupBySlice 1>>)"},
        Row{"FieldOfSeries", "<<.Series.X>>{<<.LabelMatchers>>}"}, Row{"RangeOnly", kX + "[5m]"},
        Row{"RateOfVector", "rate(" + kX + ")"},
        Row{"SumOfRange", "sum" + kBy + "(" + kX + "[5m])"}, Row{"TrailingText", kX + " up"},
        Row{"UnclosedString", kX + " \""}, Row{"UnclosedParen", "sum" + kBy + "(" + kX},
        Row{"Empty", ""}, Row{"TwiceBy", "sum" + kBy + "(" + kX + ")" + kBy},
        Row{"UnknownFunction", "sum" + kBy + "(limit_ratio(" + kX + "))"},
        Row{"FunctionInCapitals", "RATE(" + kX + "[5m])"}, Row{"AtStart", kX + " @ start()"},
        Row{"ControlCharacter", "\x01{\x02}"}, Row{"SetWithScalar", kX + " and 1"}),
    Name);

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
  EXPECT_EQ(ShapeOf(*query, "namespace").SeparatesLabel(GetParam().label), GetParam().separates);
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
