#include "adapter/prometheus/answer_mark.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace flyball::adapter::prometheus {
namespace {

std::string Vector(const std::string& samples) {
  return absl::StrCat(R"({"status":"success","data":{"resultType":"vector","result":)", samples,
                      "}}");
}

struct Row {
  std::string name;
  std::string before, after;
  std::optional<int64_t> want_ms;  // nullopt: another answer, or not looked into
};

class MarkAnswerTest : public testing::TestWithParam<Row> {};

TEST_P(MarkAnswerTest, Row) {
  const auto before = MarkAnswer(GetParam().before);
  const auto after = MarkAnswer(GetParam().after);
  const bool same = before.has_value() && after.has_value() && before->mark == after->mark;
  EXPECT_EQ(same, GetParam().want_ms.has_value());
  if (same && GetParam().want_ms) {
    EXPECT_EQ(absl::ToUnixMillis(after->time), *GetParam().want_ms);
    EXPECT_EQ(after->points, 2u);
  }
}

// Two pods, sampled at these times.
std::string TwoPods(const std::string& time_a, const std::string& time_b,
                    const std::string& value_b = "7", const std::string& pod_b = "b") {
  return Vector(absl::StrCat(R"([{"metric":{"pod":"a"},"value":[)", time_a,
                             R"(,"0.5"]},{"metric":{"pod":")", pod_b, R"("},"value":[)", time_b,
                             ",\"", value_b, "\"]}]"));
}

INSTANTIATE_TEST_SUITE_P(
    Answers, MarkAnswerTest,
    testing::Values(
        Row{"LaterTime", TwoPods("1700000000.123", "1700000000.123"),
            TwoPods("1700000001.456", "1700000001.456"), 1700000001456},
        Row{"ShorterTime", TwoPods("1700000000.123", "1700000000.123"),
            TwoPods("1700000001", "1700000001"), 1700000001000},
        Row{"LongerTime", TwoPods("1700000000", "1700000000"),
            TwoPods("1700000000.5", "1700000000.5"), 1700000000500},
        Row{"TheSameTime", TwoPods("1700000000", "1700000000"), TwoPods("1700000000", "1700000000"),
            1700000000000},
        Row{"AValueChanged", TwoPods("1700000000", "1700000000"),
            TwoPods("1700000001", "1700000001", "8"), std::nullopt},
        Row{"TheLastDigitOfAValueChanged", TwoPods("1700000000", "1700000000", "71"),
            TwoPods("1700000001", "1700000001", "72"), std::nullopt},
        Row{"ALongerValue", TwoPods("1700000000", "1700000000"),
            TwoPods("1700000001", "1700000001", "70"), std::nullopt},
        Row{"ALabelChanged", TwoPods("1700000000", "1700000000"),
            TwoPods("1700000001", "1700000001", "7", "c"), std::nullopt},
        // Samples of different times are read anew, each time.
        Row{"OneTimeChanged", TwoPods("1700000000", "1700000000"),
            TwoPods("1700000001", "1700000000"), std::nullopt},
        Row{"TwoTimes", TwoPods("1700000000", "1700000002"), TwoPods("1700000001", "1700000003"),
            std::nullopt},
        Row{"TwoLongTimes", TwoPods("1700000000.123", "1700000000.123"),
            TwoPods("1700000001.123", "1700000001.124"), std::nullopt},
        Row{"TwoTimesAgain", TwoPods("1700000000", "1700000002"),
            TwoPods("1700000000", "1700000002"), std::nullopt},
        Row{"NoTime", TwoPods("1700000000", "1700000000"), TwoPods("x", "x"), std::nullopt},
        Row{"OneSampleLess", TwoPods("1700000000", "1700000000"),
            Vector(R"([{"metric":{"pod":"a"},"value":[1700000000,"0.5"]}])"), std::nullopt},
        Row{"CutOff", TwoPods("1700000000", "1700000000"),
            TwoPods("1700000001", "1700000001").substr(0, 120), std::nullopt},
        Row{"NothingAtAll", TwoPods("1700000000", "1700000000"), "", std::nullopt},
        // A text that looks like the beginning of a sample's time has its quotes escaped.
        Row{"ALabelLikeATime",
            TwoPods("1700000000", "1700000000", "7", R"(\"value\":[1700000000,)"),
            TwoPods("1700000001", "1700000001", "7", R"(\"value\":[1700000001,)"), std::nullopt},
        // A time as no server writes it is not looked into.
        Row{"APlus", TwoPods("1700000000", "1700000000"), TwoPods("+1700000000", "+1700000000"),
            std::nullopt},
        Row{"AZeroBefore", TwoPods("1700000000", "1700000000"), TwoPods("01", "01"), std::nullopt},
        Row{"NoDecimals", TwoPods("1700000000", "1700000000"), TwoPods("1.", "1."), std::nullopt},
        Row{"AnExponent", TwoPods("1700000000", "1700000000"), TwoPods("17e8", "17e8"),
            std::nullopt},
        Row{"TheTimeOfOneIsTheBeginningOfAnothers", TwoPods("1", "1"), TwoPods("1", "17"),
            std::nullopt},
        // What moves from one text into its neighbour is another answer.
        Row{"TheSameBytesElsewhere", TwoPods("1", "1", "71", "b"), TwoPods("1", "1", "1", "b7"),
            std::nullopt},
        Row{"Empty", Vector("[]"), Vector("[]"), std::nullopt}),
    [](const auto& info) { return info.param.name; });

// Longer than what is digested at once: a byte changed anywhere but in a time is another answer.
TEST(MarkAnswerTest, EachByteOfALongAnswerCounts) {
  std::string body = "[";
  while (body.size() < 40'000) {
    absl::StrAppend(&body, body.size() == 1 ? "" : ",", R"({"metric":{"pod":"web-)", body.size(),
                    R"("},"value":[1700000000.123,"0.5"]})");
  }
  body = Vector(body + "]");
  const auto whole = MarkAnswer(body);
  ASSERT_TRUE(whole.has_value());
  for (size_t at = 0; at < body.size(); at += 997) {
    std::string changed = body;
    changed[at] ^= 1;
    const auto other = MarkAnswer(changed);
    EXPECT_FALSE(other.has_value() && other->mark == whole->mark) << at;
  }
}

}  // namespace
}  // namespace flyball::adapter::prometheus
