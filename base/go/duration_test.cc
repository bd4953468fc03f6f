#include "base/go/duration.h"

#include <string>

#include "gtest/gtest.h"

namespace flyball::go {
namespace {

struct DurationRow {
  std::string name;
  std::string text;
  absl::Duration want;
  std::string error;  // "" = no error
};

class ParseDurationTest : public testing::TestWithParam<DurationRow> {};

TEST_P(ParseDurationTest, Row) {
  const auto got = ParseDuration(GetParam().text);
  EXPECT_EQ(got.status().message(), GetParam().error);
  if (got.ok()) {
    EXPECT_EQ(*got, GetParam().want);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Texts, ParseDurationTest,
    testing::Values(
        DurationRow{"Zero", "0", absl::ZeroDuration(), ""},
        DurationRow{"ZeroSeconds", "0s", absl::ZeroDuration(), ""},
        DurationRow{"Mixed", "1h2m3.5s", absl::Hours(1) + absl::Minutes(2) + absl::Seconds(3.5),
                    ""},
        DurationRow{"Negative", "-1.5h", -absl::Minutes(90), ""},
        DurationRow{"PointFirst", ".5s", absl::Milliseconds(500), ""},
        DurationRow{"Micro", "15µs", absl::Microseconds(15), ""},
        DurationRow{"Empty", "", {}, "time: invalid duration \"\""},
        DurationRow{"Word", "abc", {}, "time: invalid duration \"abc\""},
        DurationRow{"NoUnit", "5", {}, "time: missing unit in duration \"5\""},
        DurationRow{"OddUnit", "5x", {}, "time: unknown unit \"x\" in duration \"5x\""},
        DurationRow{"Quoted",
                    "5\"\\\n\xC3\xA9",
                    {},
                    R"(time: unknown unit "\"\\\x0a\xc3\xa9" in duration "5\"\\\x0a\xc3\xa9")"},
        DurationRow{"PointAlone", ".s", {}, "time: invalid duration \".s\""},
        DurationRow{"TooLong", "9999999999h", {}, "time: invalid duration \"9999999999h\""}),
    [](const auto& info) { return info.param.name; });

TEST(ParseDurationLimitsTest, MicroSignsAndTheLongest) {
  EXPECT_EQ(*ParseDuration("1\xC2\xB5s"), absl::Microseconds(1)) << "micro sign";
  EXPECT_EQ(*ParseDuration("1\xCE\xBCs"), absl::Microseconds(1)) << "Greek mu";
  EXPECT_TRUE(ParseDuration("2562047h").ok());
  EXPECT_FALSE(ParseDuration("2562048h").ok()) << "beyond 63 bits of nanoseconds";
}

struct WrittenRow {
  std::string name;
  absl::Duration in;
  std::string want;
};

class AppendDurationTest : public testing::TestWithParam<WrittenRow> {};

TEST_P(AppendDurationTest, Row) {
  std::string out;
  AppendDuration(GetParam().in, out);
  EXPECT_EQ(out, GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(Forms, AppendDurationTest,
                         testing::Values(WrittenRow{"Zero", absl::ZeroDuration(), "0s"},
                                         WrittenRow{"Seconds", absl::Seconds(15), "15s"},
                                         WrittenRow{"WholeMinute", absl::Minutes(1), "1m0s"},
                                         WrittenRow{"MinuteAndHalf", absl::Seconds(90), "1m30s"},
                                         WrittenRow{"Fraction", absl::Milliseconds(1500), "1.5s"},
                                         WrittenRow{"Hour", absl::Hours(1), "1h0m0s"},
                                         WrittenRow{"Milliseconds", absl::Milliseconds(10034),
                                                    "10.034s"},
                                         WrittenRow{"Micro", absl::Microseconds(15), "15µs"},
                                         WrittenRow{"Nano", absl::Nanoseconds(7), "7ns"},
                                         WrittenRow{"Milli", absl::Microseconds(1100), "1.1ms"},
                                         WrittenRow{"Negative", -absl::Seconds(61), "-1m1s"}),
                         [](const auto& info) { return info.param.name; });

TEST(ToSecondsTest, RoundsAsGoDoes) {
  EXPECT_EQ(ToSeconds(absl::Milliseconds(1118)), 1 + 0.118);
  EXPECT_NE(ToSeconds(absl::Milliseconds(1118)), 1.118);  // one rounding gives another double
  EXPECT_EQ(ToSeconds(absl::Milliseconds(-1500)), -1.5);
}

}  // namespace
}  // namespace flyball::go
