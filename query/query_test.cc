#include "query/query.h"

#include <gtest/gtest.h>

namespace flyball::query {
namespace {

constexpr absl::string_view kSamples =
    "x{pod=\"a\"} 1 0\nx{pod=\"a\"} 4 60\nx{pod=\"b\"} 2 60\n# EOF\n";

std::string Answer(QueryOptions options) {
  const auto answer = AnswerQuery(kSamples, options);
  return answer.ok() ? *answer : std::string(answer.status().message());
}

TEST(AnswerQuery, AtTheNewestSampleIfNoTimeIsGiven) {
  EXPECT_EQ(Answer({.expr = "x"}),
            "x{pod=\"a\"}  4 @ 1970-01-01T00:01:00+00:00\n"
            "x{pod=\"b\"}  2 @ 1970-01-01T00:01:00+00:00\n");
  EXPECT_EQ(Answer({.expr = "sum(x)", .time = "59.999"}),
            "{}  1 @ 1970-01-01T00:00:59.999+00:00\n");
  EXPECT_EQ(Answer({.expr = "x{pod=\"b\"}", .json = true}),
            "{\"resultType\":\"vector\",\"result\":[{\"metric\":{\"__name__\":\"x\",\"pod\":\"b\"},"
            "\"value\":[60,\"2\"]}]}\n");
}

TEST(AnswerQuery, OverSteps) {
  EXPECT_EQ(Answer({.expr = "sum(x)", .start = "0", .end = "1970-01-01T00:01:00Z", .step = "1m"}),
            "{}\n  1 @ 1970-01-01T00:00:00+00:00\n  6 @ 1970-01-01T00:01:00+00:00\n");
  EXPECT_EQ(Answer({.expr = "sum(x)", .start = "0", .end = "60", .step = "60", .json = true}),
            "{\"resultType\":\"matrix\",\"result\":[{\"metric\":{},"
            "\"values\":[[0,\"1\"],[60,\"6\"]]}]}\n");
}

TEST(AnswerQuery, LookbackAndDialectAreChosen) {
  EXPECT_EQ(Answer({.expr = "x", .time = "75", .lookback = "15", .json = true}),
            "{\"resultType\":\"vector\",\"result\":[]}\n");
  EXPECT_EQ(
      Answer({.expr = "count(x)", .time = "75", .lookback = "15", .dialect = promql::Dialect::k2}),
      "{}  2 @ 1970-01-01T00:01:15+00:00\n");
}

TEST(AnswerQuery, SaysWhatIsWrong) {
  EXPECT_EQ(Answer({.expr = "sum(x"}),
            "invalid parameter \"query\": 1:6: parse error: unclosed left parenthesis");
  EXPECT_EQ(
      Answer(
          {.expr = "sum(x", .start = "0", .end = "1", .step = "1", .dialect = promql::Dialect::k2}),
      "1:6: parse error: unclosed left parenthesis");
  EXPECT_EQ(Answer({.expr = "x", .time = "soon"}),
            "invalid parameter \"time\": cannot parse \"soon\" to a valid timestamp");
  EXPECT_EQ(Answer({.expr = "x", .start = "0"}),
            "a range query takes a start, an end and a step, and no single time");
  EXPECT_EQ(AnswerQuery("x 1 1\n", {.expr = "x"}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace flyball::query
