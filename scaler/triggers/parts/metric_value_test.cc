#include "scaler/triggers/parts/metric_value.h"

#include <gtest/gtest.h>

namespace flyball::scaler {
namespace {

TEST(MetricValueTest, ValuesAreCutAndTargetsRounded) {
  EXPECT_EQ(*ValueMilli(0.0004), 0);
  EXPECT_EQ(*ValueMilli(1.9999), 2000);  // "%.3f"
  EXPECT_EQ(*ValueMilli(2.01), 2010);    // 2.01 * 1000 is 2009.9999999999998
  EXPECT_EQ(*ValueMilli(0.0006), 1);
  EXPECT_EQ(*ValueMilli(-5), 0);
  EXPECT_FALSE(ValueMilli(9.1e15).ok());
  EXPECT_FALSE(ValueMilli(1.0 / 0.0).ok());
  EXPECT_FALSE(ValueMilli(0.0 / 0.0).ok());
  EXPECT_EQ(*TargetMilli(2.5), 2500);
  EXPECT_EQ(*TargetMilli(1.9999), 2000);
  EXPECT_FALSE(TargetMilli(0.0004).ok());
  EXPECT_FALSE(TargetMilli(0).ok());
  EXPECT_FALSE(TargetMilli(-1).ok());
  EXPECT_FALSE(TargetMilli(1e300).ok());
}

}  // namespace
}  // namespace flyball::scaler
