#include "apiservice/wire/text.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kube/objects/quantity.h"

namespace flyball::apiservice::wire {
namespace {

struct QuantityRow {
  std::string name;
  int64_t milli;
  QuantityForm form;
  std::string want;
};

class AppendMilliQuantityTest : public testing::TestWithParam<QuantityRow> {};

TEST_P(AppendMilliQuantityTest, Row) {
  std::string out;
  AppendMilliQuantity(GetParam().milli, GetParam().form, &out);
  EXPECT_EQ(out, GetParam().want);
}

constexpr auto kDecimal = QuantityForm::kDecimal;
constexpr auto kBinary = QuantityForm::kBinary;

INSTANTIATE_TEST_SUITE_P(
    Canonical, AppendMilliQuantityTest,
    testing::Values(QuantityRow{"Zero", 0, kDecimal, "0"},
                    QuantityRow{"Milli", 999, kDecimal, "999m"},
                    QuantityRow{"OneUnit", 1000, kDecimal, "1"},
                    QuantityRow{"NoSuffixForFifteenHundred", 1500000, kDecimal, "1500"},
                    QuantityRow{"Kilo", 1000000, kDecimal, "1k"},
                    QuantityRow{"Mega", 2500000000000, kDecimal, "2500M"},
                    QuantityRow{"Peta", 9200000000000000000, kDecimal, "9200T"},
                    QuantityRow{"Negative", -1999, kDecimal, "-1999m"},
                    QuantityRow{"Smallest", std::numeric_limits<int64_t>::min(), kDecimal,
                                "-9223372036854775808m"},
                    QuantityRow{"BinaryBelow1024IsDecimal", 1000000, kBinary, "1k"},
                    QuantityRow{"BinaryFractionIsDecimal", 1000500, kBinary, "1000500m"},
                    QuantityRow{"Kibi", 1024000, kBinary, "1Ki"},
                    QuantityRow{"Mebi", int64_t{134217728} * 1000, kBinary, "128Mi"},
                    QuantityRow{"OddBytes", int64_t{4294967297} * 1000, kBinary, "4294967297"},
                    QuantityRow{"ManyKibi", int64_t{1000000000000} * 1000, kBinary, "976562500Ki"},
                    QuantityRow{"DecimalMillionStaysBytes", int64_t{1000001} * 1000, kBinary,
                                "1000001"},
                    // 1000000 = 2^6 * 15625: no factor of 1024.
                    QuantityRow{"MillionBytes", int64_t{1000000} * 1000, kBinary, "1000000"},
                    QuantityRow{"NegativeBinary", -2048000, kBinary, "-2Ki"}),
    [](const auto& info) { return info.param.name; });

// Every power of ten and of two, and their neighbours, in both signs.
TEST(AppendMilliQuantityAgreementTest, WithTheExactQuantity) {
  std::vector<int64_t> values = {0, std::numeric_limits<int64_t>::max(),
                                 std::numeric_limits<int64_t>::min()};
  for (const int64_t base : {10, 2}) {
    for (int64_t power = 1; power < std::numeric_limits<int64_t>::max() / base; power *= base) {
      for (const int64_t value :
           {power - 1, power, power + 1, power / 1000 * 1000, 3 * (power / 8)}) {
        values.push_back(value);
        values.push_back(-value);
      }
    }
  }
  for (const int64_t value : values) {
    std::string decimal;
    std::string binary;
    AppendMilliQuantity(value, kDecimal, &decimal);
    AppendMilliQuantity(value, kBinary, &binary);
    EXPECT_EQ(decimal, kube::Quantity::FromMilli(value).ToString()) << value;
    EXPECT_EQ(binary,
              kube::Quantity::FromMilli(value, kube::Quantity::Format::kBinarySI).ToString())
        << value;
  }
}

TEST(AppendJsonTimeTest, FractionIsCutNotRounded) {
  std::string out;
  AppendJsonTime(absl::FromUnixMillis(1700000000999), &out);
  EXPECT_EQ(out, "\"2023-11-14T22:13:20Z\"");
}

TEST(AppendJsonTimeTest, FractionsBeforeTheEpochAreCutDownwards) {
  std::string out;
  AppendJsonTime(absl::FromUnixMillis(-4500), &out);
  EXPECT_EQ(out, "\"1969-12-31T23:59:55Z\"");
}

TEST(AppendJsonTimeTest, GosZeroTimeIsNull) {
  std::string out;
  AppendJsonTime(absl::FromUnixSeconds(-62135596800), &out);  // 0001-01-01T00:00:00Z
  EXPECT_EQ(out, "null");
  out.clear();
  AppendJsonTime(absl::FromUnixSeconds(-62135596799), &out);
  EXPECT_EQ(out, "\"0001-01-01T00:00:01Z\"");
}

TEST(IndentJsonTest, LooksLikeGo) {
  EXPECT_EQ(IndentJson("{\"a\":[],\"b\":{},\"c\":[1,{\"d\":\"x,{}\\\"\"}]}\n"),
            "{\n  \"a\": [],\n  \"b\": {},\n  \"c\": [\n    1,\n    {\n      \"d\": "
            "\"x,{}\\\"\"\n    }\n  ]\n}");
}

}  // namespace
}  // namespace flyball::apiservice::wire
