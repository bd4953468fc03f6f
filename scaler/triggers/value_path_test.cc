#include "scaler/triggers/value_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace flyball::scaler {
namespace {

using testing::HasSubstr;

struct Row {
  std::string name;
  std::string path;
  std::string json;
  double value = 0;
  std::string error = {};
};

class ValuePathTest : public testing::TestWithParam<Row> {};

TEST_P(ValuePathTest, Row) {
  const Row& row = GetParam();
  const auto path = ValuePath::Parse(row.path);
  ASSERT_TRUE(path.ok()) << path.status();
  const auto document = ParseJson(row.json);
  ASSERT_TRUE(document.ok()) << document.status();
  const absl::StatusOr<double> got = path->Read(*document);
  if (row.error.empty()) {
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_DOUBLE_EQ(*got, row.value);
  } else {
    EXPECT_THAT(std::string(got.status().message()), HasSubstr(row.error));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rows, ValuePathTest,
    testing::Values(Row{"Deep", "a.b.0.c", R"({"a":{"b":[{"c":-1.5e2}]}})", -150},
                    Row{"TheFirstOfRepeatedKeys", "a", R"({"a":1,"a":2})", 1},
                    Row{"EscapedDot", R"(a\.b.c)", R"({"a.b":{"c":3}})", 3},
                    Row{"EscapedHash", R"(\#)", R"({"#":3})", 3},
                    Row{"EscapedStar", R"(a\*)", R"({"a*":3})", 3},
                    Row{"NumbersNameKeysToo", "a.0", R"({"a":{"0":3}})", 3},
                    Row{"EmptyNames", "a..b", R"({"a":{"":{"b":3}}})", 3},
                    Row{"LengthOfTheWhole", "#", "[1,2]", 2},
                    Row{"LengthOfNothing", "a.#", R"({"a":[]})", 0},
                    Row{"LengthOfNoList", "a.#", R"({"a":{}})", 0,
                        "expected a list before `#` of a.#"},
                    Row{"BeyondTheList", "a.2", R"({"a":[1,2]})", 0, "nothing at a.2"},
                    Row{"NegativeIndex", "a.-1", R"({"a":[1,2]})", 0, "nothing at a.-1"},
                    Row{"ThroughANumber", "a.b", R"({"a":1})", 0, "nothing at a.b"},
                    Row{"KubernetesQuantity", "a", R"({"a":"1Gi"})", 1073741824},
                    Row{"NegativeQuantity", "a", R"({"a":"-5m"})", -0.005},
                    Row{"HugeQuantity", "a", R"({"a":"1E"})", 1e18},
                    Row{"EmptyText", "a", R"({"a":""})", 0, "found another string"},
                    Row{"Bool", "a", R"({"a":true})", 0, "found a bool"},
                    Row{"Object", "a", R"({"a":{}})", 0, "found an object"},
                    Row{"BeyondDoubles", "a", R"({"a":1e999})", 0, "found a number"}),
    [](const auto& info) { return info.param.name; });

TEST(ValuePathParseTest, WhatIsLeftOutIsRefused) {
  for (const char* path : {"", "a.*", "a?", "a|b", "@reverse", "a.@values", "!x", "a.#.b",
                           "a.#(b==1)", "{a,b}", "[a]", "..a", "a\\"}) {
    EXPECT_EQ(ValuePath::Parse(path).status().code(), absl::StatusCode::kInvalidArgument) << path;
  }
}

}  // namespace
}  // namespace flyball::scaler
