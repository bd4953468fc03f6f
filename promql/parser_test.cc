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

struct ParserRow {
  std::string name;
  std::string query;
  std::string printed;  // the canonical form, or the whole error
  absl::StatusCode code = absl::StatusCode::kOk;
};

class ParseTest : public testing::TestWithParam<ParserRow> {};

TEST_P(ParseTest, Row) {
  const ParserRow& row = GetParam();
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

INSTANTIATE_TEST_SUITE_P(
    Accepts, ParseTest,
    testing::Values(
        ParserRow{"ModifierAfterAggregation", "sum(rate(x[5m]))by(pod , )",
                  "sum by (pod) (rate(x[5m]))"},
        ParserRow{"AggregationsHaveNoCase", "Sum(vector(1))", "sum(vector(1))"},
        ParserRow{"KeywordsAsMetricNames", "sum + by + offset + and{a='b'} + start",
                  "sum + by + offset + and{a=\"b\"} + start"},
        ParserRow{"KeywordsAsLabels", "sum by (on, bool, group_left, offset) (x)",
                  "sum by (on, bool, group_left, offset) (x)"},
        ParserRow{"NoKeywordsInBraces", "x{by=\"1\",on=~'a.*',}", "x{by=\"1\",on=~\"a.*\"}"},
        ParserRow{"RecordingRuleName", "job:x:rate5m{a!='b'}", "job:x:rate5m{a!=\"b\"}"},
        ParserRow{"QuotedName", "{\"http.total\", \"l.x\"=\"v\"}",
                  "{\"http.total\",\"l.x\"=\"v\"}"},
        ParserRow{"Octal", "010 + 08 + 0x1F + 5. + 1_000", "8 + 8 + 31 + 5 + 1000"},
        ParserRow{"SignsFoldIntoNumbers", "- 1 ^ 2 - -3", "-1 ^ 2 - -3"},
        ParserRow{"OffsetThenAt", "x offset -5m @ 1.5", "x @ 1.5 offset -5m"},
        ParserRow{"Subquery", "max_over_time(rate(x[1m])[ 1h : ] offset 1d)",
                  "max_over_time(rate(x[1m])[1h:] offset 1d)"},
        ParserRow{"DurationIsANumber", "5m + 1", "300 + 1"},
        ParserRow{"NumberIsADuration", "rate(x[300])", "rate(x[5m])"},
        ParserRow{"DurationArithmetic", "rate(x[2*(1m+30s)])", "rate(x[3m])"},
        ParserRow{"Matching", "a > bool on(x) b / ignoring(y,) group_right(z) c",
                  "a > bool on (x) b / ignoring (y) group_right (z) c"},
        ParserRow{"CommentsAndLines", "x # a comment\n + # another\n y", "x + y"},
        ParserRow{"Escapes", "x{a=\"\\u00e9\\x41\\101\\n\"}", "x{a=\"éAA\\n\"}"},
        ParserRow{"RawString", "x{a=`\\d\n`}", "x{a=\"\\\\d\\n\"}"},
        ParserRow{"LabelJoinWithoutSources", "label_join(x, \"a\", \"-\")",
                  "label_join(x, \"a\", \"-\")"}),
    [](const auto& info) { return info.param.name; });

constexpr auto kBad = absl::StatusCode::kInvalidArgument;

INSTANTIATE_TEST_SUITE_P(
    Refuses, ParseTest,
    testing::Values(
        ParserRow{"Nothing", " # only this", "1:1: parse error: no expression found in input",
                  kBad},
        ParserRow{"TrailingComma", "rate(foo[5m],)",
                  "1:13: parse error: trailing commas not allowed in function call args", kBad},
        ParserRow{"PositionCountsLinesAndBytes", "x +\n \"é\" + )",
                  "2:10: parse error: unexpected right parenthesis ')'", kBad},
        ParserRow{"NumberThatIsALabel", "sum by (1a) (x)",
                  "1:9: parse error: bad number or duration syntax: \"1\"", kBad},
        ParserRow{"DurationOrder", "foo[1m5h]",
                  "1:5: parse error: not a valid duration string: \"1m5h\"", kBad},
        ParserRow{"NothingSelected", "{a=~\".*\"}",
                  "1:1: parse error: vector selector must contain at least one non-empty matcher",
                  kBad},
        ParserRow{"NameTwice", "x{__name__=\"y\"}",
                  "1:1: parse error: metric name must not be set twice: \"x\" or \"y\"", kBad},
        ParserRow{
            "OffsetOfAnAggregation", "sum(x) offset 5m",
            "1:1: parse error: offset modifier must be preceded by an instant vector selector or "
            "range vector selector or a subquery",
            kBad},
        ParserRow{"AtNoTime", "sum(rate(x[1m:30s] @ Inf))",
                  "1:10: parse error: timestamp out of bounds for @ modifier: +Inf", kBad},
        ParserRow{"ColonFirst", "x[ :1m]",
                  "1:5: parse error: unexpected colon before duration in duration expression",
                  kBad},
        ParserRow{"InfIsNoMetric", "inf{a=\"b\"}", "1:4: parse error: unexpected \"{\"", kBad},
        ParserRow{"FunctionsHaveCase", "Rate(x[5m])",
                  "1:1: parse error: unknown function with name \"Rate\"", kBad},
        ParserRow{"OutsideTheSubset", "sort_by_label(x, \"a\")",
                  "1:1: parse error: function sort_by_label() is outside the PromQL subset",
                  absl::StatusCode::kUnimplemented},
        ParserRow{"BoolNeeded", "1 == 1",
                  "1:3: parse error: comparisons between scalars must use BOOL modifier", kBad},
        ParserRow{"BoolNotAllowed", "foo and bool foo",
                  "1:5: parse error: bool modifier can only be used on comparison operators", kBad},
        ParserRow{"BareGroupLeftTakesTheParenthesis", "a > on(x) group_left (b*2)",
                  "1:24: parse error: unexpected <op:*> in grouping opts, expected \",\" or \")\"",
                  kBad},
        ParserRow{"LabelInOnAndGroup", "a * on(x) group_left(x) b",
                  "1:3: parse error: label \"x\" must not occur in ON and GROUP clause at once",
                  kBad},
        ParserRow{
            "TooLarge", "1e400",
            "1:1: parse error: error parsing number: strconv.ParseFloat: parsing \"1e400\": value "
            "out of range",
            kBad},
        ParserRow{"EndlessString", "x{a=\"b}", "1:5: parse error: unterminated quoted string",
                  kBad},
        ParserRow{"BadRegex", "x{a=~\"(\"}", "1:3: parse error: missing ): ^(?s:()$", kBad}),
    [](const auto& info) { return info.param.name; });

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
