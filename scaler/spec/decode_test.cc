#include "scaler/spec/decode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace flyball::scaler {
namespace {

using testing::HasSubstr;

struct Part {
  std::string name;
  std::optional<kube::Quantity> amount;
};
struct Whole {
  std::optional<int32_t> count;  // an integer, not a pointer, in the object that the rows decode
  std::optional<int32_t> limit;
  std::optional<std::map<std::string, std::string>> labels;
  std::optional<std::vector<Part>> parts;
  std::optional<absl::Time> when;
};

constexpr auto kWholeFields = [](auto& field, Whole& to) {
  int32_t count = to.count.value_or(-1);
  field("count", count);
  if (count != -1) to.count = count;
  field("limit", to.limit);
  field("labels", to.labels);
  field("parts", to.parts, [](auto& field, Part& to) {
    field("name", to.name);
    field("amount", to.amount);
  });
  field("when", to.when);
};

std::string Show(const Whole& whole) {
  std::string out;
  if (whole.count) absl::StrAppend(&out, " count=", *whole.count);
  if (whole.limit) absl::StrAppend(&out, " limit=", *whole.limit);
  if (whole.labels) {
    absl::StrAppend(&out, " labels={");
    for (const auto& [key, value] : *whole.labels) absl::StrAppend(&out, " ", key, "=", value);
    absl::StrAppend(&out, " }");
  }
  if (whole.parts) {
    absl::StrAppend(&out, " parts=[");
    for (const Part& part : *whole.parts) {
      absl::StrAppend(&out, " {", part.name.empty() ? "" : " name=", part.name);
      if (part.amount) absl::StrAppend(&out, " amount=", part.amount->ToString());
      absl::StrAppend(&out, " }");
    }
    absl::StrAppend(&out, " ]");
  }
  return absl::StrCat("{", out, " }");
}

struct DecodeRow {
  std::string name;
  std::string json;
  std::string want;  // or "error: …"
  KeyMatch match = KeyMatch::kExact;
};

class DecodeTest : public testing::TestWithParam<DecodeRow> {};

TEST_P(DecodeTest, Row) {
  const auto json = ParseJson(GetParam().json);
  ASSERT_TRUE(json.ok()) << json.status();
  Whole whole;
  const absl::Status got = Decode(*json, GetParam().match, whole, kWholeFields);
  const std::string shown = got.ok() ? Show(whole) : absl::StrCat("error: ", got.message());
  if (got.ok()) {
    EXPECT_EQ(shown, GetParam().want);
  } else {
    EXPECT_THAT(shown, HasSubstr(GetParam().want));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rows, DecodeTest,
    testing::Values(
        DecodeRow{"UnknownFieldsGo", R"({"count": 1, "other": {"x": 1}})", "{ count=1 }"},
        DecodeRow{"CaseCounts", R"({"Count": 1})", "{ }"},
        DecodeRow{"CaseMayNotCount", R"({"COUNT": 1})", "{ count=1 }", KeyMatch::kIgnoreCase},
        DecodeRow{"LongSAndKelvinFold", "{\"count\": 1, \"part\xC5\xBF\": []}",
                  "{ count=1 parts=[ ] }", KeyMatch::kIgnoreCase},
        DecodeRow{"NullLeavesAValueAlone", R"({"count": 1, "count": null})", "{ count=1 }"},
        DecodeRow{"NullEmptiesAPointer", R"({"limit": 1, "limit": null})", "{ }"},
        DecodeRow{"RepeatedObjectsMerge", R"({"labels": {"a": "1"}, "labels": {"b": "2"}})",
                  "{ labels={ a=1 b=2 } }"},
        DecodeRow{"RepeatedListsMergeByPlace",
                  R"({"parts": [{"name": "x", "amount": 1}], "parts": [{"name": "y"}]})",
                  "{ parts=[ { name=y amount=1 } ] }"},
        DecodeRow{"NullInAListIsZero", R"({"parts": [null]})", "{ parts=[ { } ] }"},
        DecodeRow{"NullInAMapIsEmpty", R"({"labels": {"a": null}})", "{ labels={ a= } }"},
        DecodeRow{"QuantitiesAreTrimmed", R"({"parts": [{"amount": " 5 "}, {"amount": 1e3}]})",
                  "{ parts=[ { amount=5 } { amount=1e3 } ] }"},
        DecodeRow{"QuantitiesTakeNoEscapes", R"({"parts": [{"amount": "\u0035"}]})",
                  "error: line 1: parts[0].amount: expected a quantity"},
        DecodeRow{"IntegersTakeNoExponent", R"({"count": 1e3})",
                  "error: line 1: count: expected a whole number, got the number 1e3"},
        DecodeRow{"IntegersHave32Bits", R"({"count": 2147483648})",
                  "error: line 1: count: expected"},
        DecodeRow{"StringsAreNoNumbers", R"({"labels": {"a": 1}})",
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
