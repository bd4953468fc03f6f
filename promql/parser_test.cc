#include "promql/parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "promql/lexer.h"
#include "promql/query_span.h"

namespace flyball::promql {
namespace {

using testing::HasSubstr;

struct Row {
  std::string name;
  std::string query;
  std::string printed;  // the canonical form, or the whole error
  absl::StatusCode code = absl::StatusCode::kOk;
};

class ParseTest : public testing::TestWithParam<Row> {};

TEST_P(ParseTest, Row) {
  const Row& row = GetParam();
  const auto expr = Parse(row.query);
  ASSERT_EQ(expr.status().code(), row.code) << expr.status();
  if (!expr.ok()) {
    EXPECT_EQ(expr.status().message(), row.printed);
    return;
  }
  EXPECT_EQ(Print(**expr), row.printed);
  const auto again = Parse(row.printed);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(Print(**again), row.printed);
}

std::string RowName(const testing::TestParamInfo<Row>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(
    Accepts, ParseTest,
    testing::Values(
        Row{"ModifierAfterAggregation", "sum(rate(x[5m]))by(pod , )", "sum by (pod) (rate(x[5m]))"},
        Row{"AggregationsHaveNoCase", "Sum(vector(1))", "sum(vector(1))"},
        Row{"KeywordsAsMetricNames", "sum + by + offset + and{a='b'} + start",
            "sum + by + offset + and{a=\"b\"} + start"},
        Row{"KeywordsAsLabels", "sum by (on, bool, group_left, offset) (x)",
            "sum by (on, bool, group_left, offset) (x)"},
        Row{"NoKeywordsInBraces", "x{by=\"1\",on=~'a.*',}", "x{by=\"1\",on=~\"a.*\"}"},
        Row{"RecordingRuleName", "job:x:rate5m{a!='b'}", "job:x:rate5m{a!=\"b\"}"},
        Row{"QuotedName", "{\"http.total\", \"l.x\"=\"v\"}", "{\"http.total\",\"l.x\"=\"v\"}"},
        Row{"Octal", "010 + 08 + 0x1F + 5. + 1_000", "8 + 8 + 31 + 5 + 1000"},
        Row{"SignsFoldIntoNumbers", "- 1 ^ 2 - -3", "-1 ^ 2 - -3"},
        Row{"OffsetThenAt", "x offset -5m @ 1.5", "x @ 1.5 offset -5m"},
        Row{"Subquery", "max_over_time(rate(x[1m])[ 1h : ] offset 1d)",
            "max_over_time(rate(x[1m])[1h:] offset 1d)"},
        Row{"DurationIsANumber", "5m + 1", "300 + 1"},
        Row{"NumberIsADuration", "rate(x[300])", "rate(x[5m])"},
        Row{"DurationArithmetic", "rate(x[2*(1m+30s)])", "rate(x[3m])"},
        Row{"Matching", "a > bool on(x) b / ignoring(y,) group_right(z) c",
            "a > bool on (x) b / ignoring (y) group_right (z) c"},
        Row{"CommentsAndLines", "x # a comment\n + # another\n y", "x + y"},
        Row{"Escapes", "x{a=\"\\u00e9\\x41\\101\\n\"}", "x{a=\"éAA\\n\"}"},
        Row{"RawString", "x{a=`\\d\n`}", "x{a=\"\\\\d\\n\"}"},
        Row{"LabelJoinWithoutSources", "label_join(x, \"a\", \"-\")",
            "label_join(x, \"a\", \"-\")"}),
    RowName);

constexpr auto kBad = absl::StatusCode::kInvalidArgument;

INSTANTIATE_TEST_SUITE_P(
    Refuses, ParseTest,
    testing::Values(
        Row{"Nothing", " # only this", "1:1: parse error: no expression found in input", kBad},
        Row{"TrailingComma", "rate(foo[5m],)",
            "1:13: parse error: trailing commas not allowed in function call args", kBad},
        Row{"PositionCountsLinesAndBytes", "x +\n \"é\" + )",
            "2:10: parse error: unexpected right parenthesis ')'", kBad},
        Row{"NumberThatIsALabel", "sum by (1a) (x)",
            "1:9: parse error: bad number or duration syntax: \"1\"", kBad},
        Row{"DurationOrder", "foo[1m5h]", "1:5: parse error: not a valid duration string: \"1m5h\"",
            kBad},
        Row{"NothingSelected", "{a=~\".*\"}",
            "1:1: parse error: vector selector must contain at least one non-empty matcher", kBad},
        Row{"NameTwice", "x{__name__=\"y\"}",
            "1:1: parse error: metric name must not be set twice: \"x\" or \"y\"", kBad},
        Row{"OffsetOfAnAggregation", "sum(x) offset 5m",
            "1:1: parse error: offset modifier must be preceded by an instant vector selector or "
            "range vector selector or a subquery",
            kBad},
        Row{"AtNoTime", "sum(rate(x[1m:30s] @ Inf))",
            "1:10: parse error: timestamp out of bounds for @ modifier: +Inf", kBad},
        Row{"ColonFirst", "x[ :1m]",
            "1:5: parse error: unexpected colon before duration in duration expression", kBad},
        Row{"InfIsNoMetric", "inf{a=\"b\"}", "1:4: parse error: unexpected \"{\"", kBad},
        Row{"FunctionsHaveCase", "Rate(x[5m])",
            "1:1: parse error: unknown function with name \"Rate\"", kBad},
        Row{"OutsideTheSubset", "sort_by_label(x, \"a\")",
            "1:1: parse error: function sort_by_label() is outside the PromQL subset",
            absl::StatusCode::kUnimplemented},
        Row{"BoolNeeded", "1 == 1",
            "1:3: parse error: comparisons between scalars must use BOOL modifier", kBad},
        Row{"BoolNotAllowed", "foo and bool foo",
            "1:5: parse error: bool modifier can only be used on comparison operators", kBad},
        Row{"BareGroupLeftTakesTheParenthesis", "a > on(x) group_left (b*2)",
            "1:24: parse error: unexpected <op:*> in grouping opts, expected \",\" or \")\"", kBad},
        Row{"LabelInOnAndGroup", "a * on(x) group_left(x) b",
            "1:3: parse error: label \"x\" must not occur in ON and GROUP clause at once", kBad},
        Row{"TooLarge", "1e400",
            "1:1: parse error: error parsing number: strconv.ParseFloat: parsing \"1e400\": value "
            "out of range",
            kBad},
        Row{"EndlessString", "x{a=\"b}", "1:5: parse error: unterminated quoted string", kBad},
        Row{"BadRegex", "x{a=~\"(\"}", "1:3: parse error: missing ): ^(?s:()$", kBad}),
    RowName);

TEST(Parse, SpanOfTheQueryInDurations) {
  constexpr QuerySpan kSpan{.step_seconds = 30, .range_seconds = 600};
  const auto expr = ParseFor(kSpan, "rate(x[2*step()] offset (range()/10))", Dialect::k3);
  ASSERT_TRUE(expr.ok()) << expr.status();
  EXPECT_EQ(Print(**expr), "rate(x[1m] offset 1m)");
  // An instant query has no step.
  EXPECT_EQ(ParseFor({}, "x[step()]", Dialect::k3).status().message(),
            "1:3: parse error: duration must be greater than 0");
  EXPECT_EQ(Parse("x offset step()").status().code(), absl::StatusCode::kUnimplemented);
}

TEST(Parse, DeepNestingIsRefusedNotOverflown) {
  for (const std::string& query : {std::string(100'000, '('), std::string(100'000, '-') + "1",
                                   "x[" + std::string(100'000, '(') + "1m]"}) {
    EXPECT_EQ(Parse(query).status().code(), kBad);
  }
  EXPECT_EQ(Parse(std::string(3 << 20, '(')).status().message(),
            "the query is longer than 1048576 bytes");
  std::string chain = "1";
  for (int i = 0; i < 100'000; ++i) chain += "+1";
  EXPECT_EQ(Parse(chain).status().code(), kBad);
}

TEST(Parse, AListOfLabelsHasAtMost256) {
  for (const absl::string_view before : {"sum by (", "sum without (", "a * on (", "a * ignoring (",
                                         "a * on (x) group_left (", "a * on (x) group_right ("}) {
    std::string query = absl::StrCat(before, "l0");
    for (int i = 1; i < 256; ++i) absl::StrAppend(&query, ",l", i);
    EXPECT_TRUE(Parse(query + ") (b)").ok()) << before;
    EXPECT_TRUE(absl::EndsWith(Parse(query + ",l) (b)").status().message(),
                               "a list has more than 256 labels"))
        << before;
  }
}

// Such a text of the longest length would take 100 MB.
TEST(Lex, EndsAtTheMostTokens) {
  const std::vector<Token> tokens = Lex(std::string(kMaxQueryBytes, '('));
  EXPECT_EQ(tokens.size(), kMaxTokens + 1);
  EXPECT_EQ(tokens.back().error, "the query has more than 100000 tokens");
}

std::string Selected(size_t matchers, absl::string_view matcher) {
  std::string text = "{b=\"1\"";
  for (size_t i = 1; i < matchers; ++i) absl::StrAppend(&text, ",", matcher);
  return text + "}";
}

TEST(Parse, ASelectorHasAtMost64Matchers) {
  EXPECT_TRUE(Parse(Selected(64, "a!=\"1\"")).ok());
  EXPECT_EQ(Parse(Selected(65, "a!=\"1\"")).status().message(),
            "1:449: parse error: a selector has more than 64 matchers");
}

TEST(Parse, TheRegularExpressionsOfAQueryHaveABound) {
  const auto query = [](int count, const std::string& selector) {
    std::string text = selector;
    for (int i = 1; i < count; ++i) absl::StrAppend(&text, " or ", selector);
    return text;
  };
  EXPECT_TRUE(Parse(query(64, "x{a=~\"b.*\"}")).ok());
  const std::string error = "the regular expressions of the query take more than 64 MiB";
  EXPECT_THAT(Parse(query(65, "x{a=~\"b.*\"}")).status().message(), HasSubstr(error));
  // Programs of 1.9 MB each: 250 of them would be held.
  EXPECT_THAT(Parse(query(9, R"(x{a=~"\\pL{200}"})")).status().message(), HasSubstr(error));
  // RE2 would make a tree of 110 MB of them, and then say that they are too many.
  std::string classes;
  for (int i = 0; i < 20'000; ++i) classes += "\\pL";
  EXPECT_THAT(Parse("x{a=~`" + classes + "`}").status().message(), HasSubstr(error));
  // Selectors that are held together share the bound.
  RegexRoom room;
  int count = 0;
  while (ParseSeriesSelector("x{a=~\"b.*\"}", Dialect::k3, &room).ok()) ++count;
  EXPECT_EQ(count, 64);
}

}  // namespace
}  // namespace flyball::promql
