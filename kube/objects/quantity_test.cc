#include "kube/objects/quantity.h"

#include <cstdint>
#include <limits>
#include <string>

#include "gtest/gtest.h"

namespace flyball::kube {
namespace {

struct QuantityRow {
  std::string text;
  std::string canonical;
};

class CanonicalTest : public testing::TestWithParam<QuantityRow> {};

TEST_P(CanonicalTest, Row) {
  const auto quantity = Quantity::Parse(GetParam().text);
  ASSERT_TRUE(quantity.ok()) << quantity.status();
  EXPECT_EQ(quantity->ToString(), GetParam().canonical);
}

INSTANTIATE_TEST_SUITE_P(
    Forms, CanonicalTest,
    testing::Values(
        // Decimal: an integer with the largest suffix that leaves one.
        QuantityRow{"0", "0"}, QuantityRow{"-0", "0"}, QuantityRow{"0.0", "0"},
        QuantityRow{"00", "0"}, QuantityRow{"1500m", "1500m"}, QuantityRow{"1.5", "1500m"},
        QuantityRow{"1000m", "1"}, QuantityRow{"0.1", "100m"}, QuantityRow{".1", "100m"},
        QuantityRow{"0.001", "1m"}, QuantityRow{"0.0001", "100u"}, QuantityRow{"0.0000001", "100n"},
        QuantityRow{"1.001", "1001m"}, QuantityRow{"+1", "1"}, QuantityRow{"01", "1"},
        QuantityRow{"1.", "1"}, QuantityRow{"1000", "1k"}, QuantityRow{"1000000", "1M"},
        QuantityRow{"1500k", "1500k"}, QuantityRow{"1.5k", "1500"}, QuantityRow{"1.5M", "1500k"},
        QuantityRow{"1024", "1024"}, QuantityRow{"1000P", "1E"}, QuantityRow{"10E", "10E"},
        QuantityRow{"-1.5", "-1500m"}, QuantityRow{"-0.0001", "-100u"},
        QuantityRow{"12345.6789", "12345678900u"},
        QuantityRow{"9223372036854775808", "9223372036854775808"},
        // More than nine decimals round up, away from zero.
        QuantityRow{"0.0000000001", "1n"}, QuantityRow{"0.5n", "1n"}, QuantityRow{"-0.5n", "-1n"},
        QuantityRow{"3.14159265358979", "3141592654n"}, QuantityRow{"1.0000000001", "1000000001n"},
        QuantityRow{"1.5m", "1500u"},
        // Binary: decimal below 1024 or when broken; capped at 2^63-1.
        QuantityRow{"1Ki", "1Ki"}, QuantityRow{"1024Ki", "1Mi"}, QuantityRow{"1.5Ki", "1536"},
        QuantityRow{"0.5Ki", "512"}, QuantityRow{"0.1Ki", "102400m"},
        QuantityRow{"1000Ki", "1000Ki"}, QuantityRow{"1536Mi", "1536Mi"},
        QuantityRow{"2.5Gi", "2560Mi"}, QuantityRow{"1.1Gi", "1181116006400m"},
        QuantityRow{"8Ei", "9223372036854775807"}, QuantityRow{"16Ei", "9223372036854775807"},
        QuantityRow{"-1.5Ki", "-1536"},
        // Exponent.
        QuantityRow{"1e3", "1e3"}, QuantityRow{"1E3", "1e3"}, QuantityRow{"1e+3", "1e3"},
        QuantityRow{"1.5e3", "1500"}, QuantityRow{"15e2", "1500"}, QuantityRow{"1e1", "10"},
        QuantityRow{"123e-2", "1230e-3"}, QuantityRow{"5e-1", "500e-3"},
        QuantityRow{"1e20", "100e18"}, QuantityRow{"1e100", "10e99"}, QuantityRow{"1e-10", "1e-9"},
        // Differs: upstream prints 1.
        QuantityRow{"1000E", "1000E"}));

class RefusedTest : public testing::TestWithParam<std::string> {};

TEST_P(RefusedTest, Row) {
  EXPECT_EQ(Quantity::Parse(GetParam()).status().code(), absl::StatusCode::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Texts, RefusedTest,
                         testing::Values("", "1K", "1ki", "1Zi", "1 ", " 1", "1_0", "0x10", "1.2.3",
                                         "--1", "1e", "1.5e", "1e3k", "Inf", "NaN", "1e3000000000",
                                         std::string(2000, '1')));

TEST(ToDoubleTest, HasNoLimitButThatOfADouble) {
  const auto of = [](const char* text) { return Quantity::Parse(text)->ToDouble(); };
  EXPECT_EQ(of("0"), 0);
  EXPECT_EQ(of("1500m"), 1.5);
  EXPECT_EQ(of("-2Ki"), -2048);
  EXPECT_EQ(of("100n"), 1e-7);
  EXPECT_EQ(of("1e19"), 1e19);
  EXPECT_EQ(of("-1e19"), -1e19);
  EXPECT_EQ(of("123456789012345678901234567890"), 123456789012345678901234567890.0);
  EXPECT_EQ(of("1e400"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(of("-1e400"), -std::numeric_limits<double>::infinity());
}

TEST(FromMilliTest, PrintsTheLargestSuffixThatLeavesAnInteger) {
  EXPECT_EQ(Quantity::FromMilli(1'500'000).ToString(), "1500");
  EXPECT_EQ(Quantity::FromMilli(1'000'000).ToString(), "1k");
  EXPECT_EQ(Quantity::FromMilli(999).ToString(), "999m");
  EXPECT_EQ(Quantity::FromMilli(-1000).ToString(), "-1");
  EXPECT_EQ(Quantity::FromMilli(std::numeric_limits<int64_t>::min()).ToString(),
            "-9223372036854775808m");
  EXPECT_EQ(Quantity::FromMilli(2'097'152'000, Quantity::Format::kBinarySI).ToString(), "2Mi");
  EXPECT_EQ(Quantity::FromMilli(2'097'152'001, Quantity::Format::kBinarySI).ToString(),
            "2097152001m");
}

TEST(ValueTest, RoundsUpAwayFromZero) {
  EXPECT_EQ(Quantity::Parse("1.5m")->MilliValue(), 2);
  EXPECT_EQ(Quantity::Parse("-1.5")->Value(), -2);
  EXPECT_EQ(Quantity::Parse("1n")->Value(), 1);
}

TEST(ValueTest, OutOfRangeWrapsAsUpstream) {
  EXPECT_EQ(Quantity::Parse("1E")->MilliValue(), 0);
  EXPECT_EQ(Quantity::Parse("100P")->MilliValue(), 0);
  EXPECT_EQ(Quantity::Parse("9223372036854775807")->MilliValue(), -1000);  // (2^63-1) × 1000
}

TEST(CompareTest, OrdersByValueAcrossForms) {
  const auto compare = [](absl::string_view a, absl::string_view b) {
    return Quantity::Parse(a)->Compare(*Quantity::Parse(b));
  };
  EXPECT_EQ(compare("1", "1000m"), 0);
  EXPECT_EQ(compare("1Ki", "1024"), 0);
  EXPECT_EQ(compare("0", "0.0Ki"), 0);
  EXPECT_EQ(compare("0.1", "0.10000000001"), -1);
  EXPECT_EQ(compare("-2", "-1"), -1);
  EXPECT_EQ(compare("-2", "1n"), -1);
  EXPECT_EQ(compare("99999999999999999999", "1e20"), -1);
  EXPECT_EQ(compare("1e30", "99999999999999999999"), 1);
  EXPECT_EQ(Quantity::Parse("-0.5n")->Sign(), -1);
}

struct SumRow {
  std::string name;
  std::string a, b, sum;
  int64_t milli;
};

class QuantityPlusTest : public testing::TestWithParam<SumRow> {};

TEST_P(QuantityPlusTest, IsExactBothWays) {
  const SumRow& row = GetParam();
  const Quantity a = *Quantity::Parse(row.a), b = *Quantity::Parse(row.b);
  const auto sum = a.Plus(b);
  ASSERT_TRUE(sum.ok()) << sum.status();
  EXPECT_EQ(sum->ToString(), row.sum);
  EXPECT_EQ(sum->MilliValue(), row.milli);
  EXPECT_EQ(sum->Compare(*b.Plus(a)), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Sums, QuantityPlusTest,
    testing::Values(SumRow{"WholeAndMilli", "1", "500m", "1500m", 1500},
                    // Two halves of a thousandth make one; rounded first they would make two.
                    SumRow{"RoundsAfterAdding", "500u", "500u", "1m", 1},
                    SumRow{"ZeroTakesTheOthersFormat", "0", "1Ki", "1Ki", 1024000},
                    SumRow{"OppositeSigns", "1", "-250m", "750m", 750},
                    // Past 18 digits: 9e18 + 1n, rounded up, times 1000 modulo 2^64.
                    SumRow{"BeyondInt64", "9e18", "1n", "9000000000000000000000000001e-9",
                           -2011107970261188607},
                    SumRow{"OppositeSignsBeyondInt64", "9e18", "-1n",
                           "8999999999999999999999999999e-9", -2011107970261188608}),
    [](const auto& info) { return info.param.name; });

// The original writes out all digits between the two, which takes it 5 s at 10^7 and grows from
// there.
TEST(QuantityPlusTest, RefusesASumOfMoreDigitsThanAnyoneReads) {
  const auto plus = [](absl::string_view a, absl::string_view b) {
    return Quantity::Parse(a)->Plus(*Quantity::Parse(b));
  };
  EXPECT_EQ(plus("1e200000000", "1m").status(),
            absl::InvalidArgumentError("a sum of quantities has more than 2000 digits"));
  EXPECT_FALSE(plus("1m", "-1e200000000").ok());
  EXPECT_FALSE(plus("1e2000", "1").ok());
  EXPECT_EQ(plus("1e1999", "1")->MilliValue(), 1000);
  EXPECT_EQ(plus("-1e1999", "1")->Sign(), -1);
  // Nothing lies between these, however large they are.
  EXPECT_EQ(plus("1e2000000000", "2e2000000000")->ToString(), "300e1999999998");
  EXPECT_EQ(plus("1e2000000000", "0")->ToString(), "100e1999999998");
  EXPECT_EQ(plus("0.00000000000000000000", "1e2000000000")->ToString(), "100e1999999998");
}

}  // namespace
}  // namespace flyball::kube
