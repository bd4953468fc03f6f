#include "scaler/triggers/parts/value_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <limits>

#include "absl/strings/str_cat.h"

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
  for (const auto& got : {path->Read(*document), path->ReadJson(row.json)}) {
    if (row.error.empty()) {
      ASSERT_TRUE(got.ok()) << got.status();
      EXPECT_DOUBLE_EQ(*got, row.value);
    } else {
      EXPECT_THAT(std::string(got.status().message()), HasSubstr(row.error));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rows, ValuePathTest,
    testing::Values(
        Row{"Deep", "a.b.0.c", R"({"a":{"b":[{"c":-1.5e2}]}})", -150},
        Row{"TheFirstOfRepeatedKeys", "a", R"({"a":1,"a":2})", 1},
        Row{"TheFirstLeadsNowhere", "a.b", R"({"a":1,"a":{"b":2}})", 0, "nothing at a.b"},
        Row{"TheFirstOfRepeatedMaps", "a.b", R"({"a":{"c":1},"a":{"b":2}})", 0, "nothing at a.b"},
        Row{"NotTheSameNameElsewhere", "a.b", R"({"x":{"a":{"b":1}},"a":{"b":2}})", 2},
        Row{"NotAnUnclesName", "a.b", R"({"a":{"c":{"b":1}},"b":3})", 0, "nothing at a.b"},
        Row{"BehindLists", "a.1.b", R"({"a":[[{"b":1}],{"b":2},{"b":3}],"c":[1,2]})", 2},
        Row{"LengthOfANestedList", "a.1.#", R"({"a":[[1],[[1,2],{"x":[3]},4],[5]]})", 3},
        Row{"AllIntegers", "a", R"({"a":18446744073709551615})", 18446744073709551615.0},
        Row{"LongNumber", "a", R"({"a":20000000000000000000000})", 2e22},
        Row{"EscapedDot", R"(a\.b.c)", R"({"a.b":{"c":3}})", 3},
        Row{"EscapedHash", R"(\#)", R"({"#":3})", 3},
        Row{"EscapedStar", R"(a\*)", R"({"a*":3})", 3},
        Row{"NumbersNameKeysToo", "a.0", R"({"a":{"0":3}})", 3},
        Row{"EmptyNames", "a..b", R"({"a":{"":{"b":3}}})", 3},
        Row{"LengthOfTheWhole", "#", "[1,2]", 2}, Row{"LengthOfNothing", "a.#", R"({"a":[]})", 0},
        Row{"LengthOfNoList", "a.#", R"({"a":{}})", 0, "expected a list before `#` of a.#"},
        Row{"BeyondTheList", "a.2", R"({"a":[1,2]})", 0, "nothing at a.2"},
        Row{"NegativeIndex", "a.-1", R"({"a":[1,2]})", 0, "nothing at a.-1"},
        Row{"ThroughANumber", "a.b", R"({"a":1})", 0, "nothing at a.b"},
        Row{"KubernetesQuantity", "a", R"({"a":"1Gi"})", 1073741824},
        Row{"NegativeQuantity", "a", R"({"a":"-5m"})", -0.005},
        Row{"HugeQuantity", "a", R"({"a":"1E"})", 1e18},
        Row{"QuantityBeyondInt64", "a", R"({"a":"1e19"})", 1e19},
        Row{"BinaryQuantityBeyondInt64", "a", R"({"a":"9Ei"})", 9.223372036854775807e18},
        Row{"NegativeBeyondInt64", "a", R"({"a":"-1e30"})", -1e30},
        Row{"QuantityBeyondDoubles", "a", R"({"a":"1e400"})",
            std::numeric_limits<double>::infinity()},
        Row{"ManyDigits", "a", R"({"a":"20000000000000000000.5"})", 2e19},
        Row{"FineQuantity", "a", R"({"a":"100u"})", 0.0001},
        Row{"SuffixAlone", "a", R"({"a":"m"})", 0, "found another string"},
        Row{"SignAlone", "a", R"({"a":"+"})", 0, "found another string"},
        Row{"HexText", "a", R"({"a":"0x10"})", 0, "found another string"},
        Row{"Underscores", "a", R"({"a":"1_000"})", 0, "found another string"},
        Row{"NanText", "a", R"({"a":"NaN"})", 0, "found another string"},
        Row{"InfText", "a", R"({"a":"+Inf"})", 0, "found another string"},
        Row{"EmptyText", "a", R"({"a":""})", 0, "found another string"},
        Row{"Bool", "a", R"({"a":true})", 0, "found a bool"},
        Row{"Object", "a", R"({"a":{}})", 0, "found an object"}),
    [](const auto& info) { return info.param.name; });

TEST(ValuePathTest, WhatIsNoJsonIsUnknown) {
  for (const char* text :
       {"", "{", "{\"a\":1", "{\"a\":1}}", "{\"a\":1}x", "{'a':1}", "{\"a\":01}", "{\"a\":1,}",
        "{\"a\":\"\xff\"}", "{\"a\":1e999}", "{\"a\":1,\"b\":NaN}"}) {
    EXPECT_EQ(ValuePath::Parse("a")->ReadJson(text).status().code(),
              absl::StatusCode::kInvalidArgument)
        << text;
  }
}

// The reader neither keeps anything for each level nor recurses, so that any depth is read.
TEST(ValuePathTest, DeepTextIsRead) {
  const std::string deep =
      absl::StrCat("{\"b\":", std::string(500'000, '['), std::string(500'000, ']'), ",\"a\":7}");
  EXPECT_EQ(*ValuePath::Parse("a")->ReadJson(deep), 7);
}

// Both come from one who may write an Autoscaler: together they took 20 s, whatever the timeout.
TEST(ValuePathTest, ALongIndexOfALongListTakesNoTime) {
  const auto path = ValuePath::Parse(std::string(200'000, '0') + "99999");
  ASSERT_TRUE(path.ok());
  std::string list = "[1";
  for (int i = 0; i < 40'000; ++i) list += ",1";
  const std::clock_t start = std::clock();  // the processor's time
  EXPECT_TRUE(absl::IsNotFound(path->ReadJson(list + "]").status()));
  EXPECT_LT(std::clock() - start, 2 * CLOCKS_PER_SEC);
}

TEST(ValuePathParseTest, WhatIsLeftOutIsRefused) {
  for (const char* path : {"", "a.*", "a?", "a|b", "@reverse", "a.@values", "!x", "a.#.b",
                           "a.#(b==1)", "{a,b}", "[a]", "..a", "a\\"}) {
    EXPECT_EQ(ValuePath::Parse(path).status().code(), absl::StatusCode::kInvalidArgument) << path;
  }
}

}  // namespace
}  // namespace flyball::scaler
