#include "scaler/spec/shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace flyball::scaler {
namespace {

using testing::HasSubstr;

const Shape kPartShape{.fields = {{"name", &kStringShape}, {"amount", &kQuantityShape, true}}};
const Shape kPartsShape{.type = Shape::Type::kList, .item = &kPartShape};
const Shape kWholeShape{.fields = {{"count", &kInt32Shape},
                                   {"limit", &kInt32Shape, true},
                                   {"labels", &kStringMapShape},
                                   {"parts", &kPartsShape},
                                   {"when", &kTimeShape}}};

std::string Show(const Node& node) {
  std::string out;
  if (node.is_list()) {
    for (const Node& item : node.items) absl::StrAppend(&out, " ", Show(item));
    return absl::StrCat("[", out, " ]");
  }
  if (node.is_map()) {
    for (const auto& [key, value] : node.members) absl::StrAppend(&out, " ", key, "=", Show(value));
    return absl::StrCat("{", out, " }");
  }
  return node.text;
}

struct Row {
  std::string name;
  std::string json;
  std::string want;  // or "error: …"
  KeyMatch match = KeyMatch::kExact;
};

class ConformTest : public testing::TestWithParam<Row> {};

TEST_P(ConformTest, Row) {
  const auto json = ParseJson(GetParam().json);
  ASSERT_TRUE(json.ok()) << json.status();
  const auto got = Conform(*json, kWholeShape, GetParam().match);
  const std::string shown =
      got.ok() ? Show(*got) : absl::StrCat("error: ", std::string(got.status().message()));
  if (got.ok()) {
    EXPECT_EQ(shown, GetParam().want);
  } else {
    EXPECT_THAT(shown, HasSubstr(GetParam().want));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rows, ConformTest,
    testing::Values(
        Row{"UnknownFieldsGo", R"({"count": 1, "other": {"x": 1}})", "{ count=1 }"},
        Row{"CaseCounts", R"({"Count": 1})", "{ }"},
        Row{"CaseMayNotCount", R"({"COUNT": 1})", "{ count=1 }", KeyMatch::kIgnoreCase},
        Row{"LongSAndKelvinFold", "{\"count\": 1, \"part\xC5\xBF\": []}", "{ count=1 parts=[ ] }",
            KeyMatch::kIgnoreCase},
        Row{"NullLeavesAValueAlone", R"({"count": 1, "count": null})", "{ count=1 }"},
        Row{"NullEmptiesAPointer", R"({"limit": 1, "limit": null})", "{ }"},
        Row{"RepeatedObjectsMerge", R"({"labels": {"a": "1"}, "labels": {"b": "2"}})",
            "{ labels={ a=1 b=2 } }"},
        Row{"RepeatedListsMergeByPlace",
            R"({"parts": [{"name": "x", "amount": 1}], "parts": [{"name": "y"}]})",
            "{ parts=[ { name=y amount=1 } ] }"},
        Row{"NullInAListIsZero", R"({"parts": [null]})", "{ parts=[ { } ] }"},
        Row{"NullInAMapIsEmpty", R"({"labels": {"a": null}})", "{ labels={ a= } }"},
        Row{"QuantitiesAreTrimmed", R"({"parts": [{"amount": " 5 "}, {"amount": 1e3}]})",
            "{ parts=[ { amount=5 } { amount=1e3 } ] }"},
        Row{"QuantitiesTakeNoEscapes", R"({"parts": [{"amount": "\u0035"}]})",
            "error: line 1: parts[0].amount: expected a quantity"},
        Row{"IntegersTakeNoExponent", R"({"count": 1e3})",
            "error: line 1: count: expected a whole number, got the number 1e3"},
        Row{"IntegersHave32Bits", R"({"count": 2147483648})", "error: line 1: count: expected"},
        Row{"StringsAreNoNumbers", R"({"labels": {"a": 1}})",
            "error: line 1: labels[a]: expected a string, got the number 1"}),
    [](const auto& info) { return info.param.name; });

TEST(IsRfc3339Test, AsGoParsesIt) {
  for (const char* good :
       {"2026-01-01T00:00:00Z", "2026-01-01T00:00:00.5Z", "2026-01-01T00:00:00,25Z",
        "2024-02-29T23:59:59+05:30", "0000-01-01T00:00:00-23:59"}) {
    EXPECT_TRUE(IsRfc3339(good)) << good;
  }
  for (const char* bad :
       {"", "2026-01-01", "2026-01-01 00:00:00Z", "2026-01-01t00:00:00z", "2026-02-30T00:00:00Z",
        "2026-01-01T24:00:00Z", "2026-01-01T00:00:60Z", "2026-01-01T00:00:00",
        "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00+25:00", "2026-1-01T00:00:00Z"}) {
    EXPECT_FALSE(IsRfc3339(bad)) << bad;
  }
}

}  // namespace
}  // namespace flyball::scaler
