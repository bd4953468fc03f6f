#include "base/go/arithmetic.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace flyball {
namespace {

constexpr int64_t kMin64 = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax64 = std::numeric_limits<int64_t>::max();
constexpr int32_t kMin32 = std::numeric_limits<int32_t>::min();

TEST(GoInt64Test, CutsTowardZeroAndSaturatesToTheMinimum) {
  EXPECT_EQ(GoInt64(2.9), 2);
  EXPECT_EQ(GoInt64(-2.9), -2);
  EXPECT_EQ(GoInt64(9.3e18), kMin64);
  EXPECT_EQ(GoInt64(-9.3e18), kMin64);
  EXPECT_EQ(GoInt64(std::nan("")), kMin64);
  EXPECT_EQ(GoInt64(std::numeric_limits<double>::infinity()), kMin64);
  EXPECT_EQ(GoInt64(9223372036854774784.0), 9223372036854774784);
}

TEST(GoInt32Test, CutsTowardZeroAndSaturatesToTheMinimum) {
  EXPECT_EQ(GoInt32(2147483647.9), 2147483647);
  EXPECT_EQ(GoInt32(2147483648.0), kMin32);
  EXPECT_EQ(GoInt32(-2147483648.9), kMin32);
  EXPECT_EQ(GoInt32(-2147483649.0), kMin32);
  EXPECT_EQ(GoInt32(std::nan("")), kMin32);
}

TEST(GoMaxTest, NaNWinsButForTheInfinityThatDecides) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(GoMax(1, 2), 2);
  EXPECT_EQ(GoMin(1, 2), 1);
  EXPECT_TRUE(std::isnan(GoMax(2, std::nan(""))));
  EXPECT_TRUE(std::isnan(GoMax(std::nan(""), 2)));
  EXPECT_TRUE(std::isnan(GoMin(-kInfinity + kInfinity, 2)));
  EXPECT_FALSE(std::signbit(GoMax(-0.0, 0.0)));
  EXPECT_FALSE(std::signbit(GoMax(0.0, -0.0)));
  EXPECT_TRUE(std::signbit(GoMin(0.0, -0.0)));
  EXPECT_EQ(GoMax(std::nan(""), kInfinity), kInfinity);
  EXPECT_EQ(GoMin(-kInfinity, std::nan("")), -kInfinity);
  EXPECT_TRUE(std::isnan(GoMin(kInfinity, std::nan(""))));
}

TEST(WrapTest, SumsAndProductsWrap) {
  EXPECT_EQ(WrapAdd(kMax64, kMax64), -2);
  EXPECT_EQ(WrapMul(kMax64, 2), -2);
  EXPECT_EQ(WrapSub(kMin64, 1), kMax64);
  EXPECT_EQ(GoDiv(kMin64, -1), kMin64);
  EXPECT_EQ(GoDiv(-7, 2), -3);
}

}  // namespace
}  // namespace flyball
