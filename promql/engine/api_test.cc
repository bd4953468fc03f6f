#include "promql/engine/api.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "promql/text.h"

namespace flyball::promql {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(ParseApiTimeMs, ReadsSecondsAndRfc3339) {
  EXPECT_EQ(*ParseApiTimeMs("1700015100.5"), 1700015100500);
  EXPECT_EQ(*ParseApiTimeMs("1.7e9"), 1700000000000);
  EXPECT_EQ(*ParseApiTimeMs("-0.0016"), -2);
  EXPECT_EQ(*ParseApiTimeMs("2023-11-14T22:13:20.25Z"), 1700000000250);
  EXPECT_EQ(*ParseApiTimeMs("2023-11-15T00:13:20+02:00"), 1700000000000);
  for (const char* text : {"", "now", "NaN", "Inf", "1e300", "2023-11-14"}) {
    EXPECT_EQ(ParseApiTimeMs(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
  EXPECT_EQ(ParseApiTimeMs("now").status().message(), "cannot parse \"now\" to a valid timestamp");
}

TEST(ParseApiDurationMs, ReadsSecondsAndUnits) {
  EXPECT_EQ(*ParseApiDurationMs("0.25"), 250);
  EXPECT_EQ(*ParseApiDurationMs("1h30m"), 5'400'000);
  EXPECT_EQ(*ParseApiDurationMs("-1"), -1000);
  EXPECT_FALSE(ParseApiDurationMs("5 m").ok());
}

TEST(ParseApiTimeMs, OnlyTheBeginningOfALongTextIsRepeated) {
  const std::string fits(512, 'x'), longer(100'000, '\x01');
  EXPECT_EQ(ParseApiTimeMs(fits).status().message(),
            absl::StrCat("cannot parse \"", fits, "\" to a valid timestamp"));
  for (const absl::Status& status :
       {ParseApiTimeMs(longer).status(), ParseApiDurationMs(longer).status(),
        ParseDurationMs(longer).status()}) {
    EXPECT_LT(status.message().size(), 2200u) << status.message().substr(0, 100);
  }
}

TEST(QueryDataJson, WritesEachType) {
  EXPECT_EQ(QueryDataJson(1e21, 1500),
            R"({"resultType":"scalar","result":[1.500,"1000000000000000000000"]})");
  EXPECT_EQ(QueryDataJson(std::string("a\"\n\xff"), 2000),
            "{\"resultType\":\"string\",\"result\":[2,\"a\\\"\\u000a\\ufffd\"]}");
  EXPECT_EQ(QueryDataJson(Vector(), 0), R"({"resultType":"vector","result":[]})");
  const Vector vector = {{Labels(LabelSet{{"__name__", "x"}, {"a", "\\"}}), 1e21},
                         {Labels(), kInf}};
  EXPECT_EQ(QueryDataJson(vector, -1001),
            R"({"resultType":"vector","result":[{"metric":{"__name__":"x","a":"\\"},)"
            R"("value":[-1.001,"1e+21"]},{"metric":{},"value":[-1.001,"+Inf"]}]})");
  Matrix matrix;
  matrix.series = {{Labels(LabelSet{{"a", "1"}}), {{1000, 1}, {1015, -0.0}}},
                   {Labels(), {{1, 1e-7}}}};
  const std::string json =
      R"({"resultType":"matrix","result":[{"metric":{"a":"1"},"values":[[1,"1"],[1.015,"-0"]]},)"
      R"({"metric":{},"values":[[0.001,"1e-07"]]}]})";
  EXPECT_EQ(QueryDataJson(matrix, 0), json);
  EXPECT_EQ(QueryRangeDataJson(matrix.series), json);
}

TEST(QueryDataJson, EndsSoonAfterItsBound) {
  Vector vector(1000, {Labels(LabelSet{{"a", "1"}}), 1});
  EXPECT_GT(QueryDataJson(vector, 0).size(), 30'000u);
  EXPECT_EQ(QueryDataJson(vector, 0, 1 << 20), QueryDataJson(vector, 0));
  const size_t size = QueryDataJson(vector, 0, 1000).size();
  EXPECT_GT(size, 1000u);
  EXPECT_LT(size, 1100u);
  const std::vector<Range> series(1000, {Labels(), {{1000, 1}}});
  EXPECT_LT(QueryRangeDataJson(series, 1000).size(), 1100u);
}

TEST(ErrorJson, NamesTheTypeByTheCode) {
  EXPECT_EQ(
      ErrorJson(InvalidParameter("query", absl::InvalidArgumentError("1:1: no"))),
      R"({"status":"error","errorType":"bad_data","error":"invalid parameter \"query\": 1:1: no"})");
  EXPECT_EQ(ErrorJson(absl::FailedPreconditionError("x")),
            R"({"status":"error","errorType":"execution","error":"x"})");
  EXPECT_EQ(ErrorJson(absl::DeadlineExceededError("x")),
            R"({"status":"error","errorType":"timeout","error":"x"})");
}

}  // namespace
}  // namespace flyball::promql
