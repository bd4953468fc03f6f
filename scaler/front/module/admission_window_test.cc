#include "scaler/front/module/admission_window.h"

#include <gtest/gtest.h>

namespace flyball::front {
namespace {

constexpr AdmissionWindow::Limits kFew = {.window = absl::Seconds(5), .most = 3, .most_of_one = 2};

TEST(AdmissionWindowTest, OneOriginHasItsShare) {
  AdmissionWindow window(kFew);
  EXPECT_TRUE(window.Admit("a", absl::Seconds(10)));
  EXPECT_TRUE(window.Admit("a", absl::Seconds(11)));
  EXPECT_FALSE(window.Admit("a", absl::Seconds(12)));
  EXPECT_TRUE(window.Admit("b", absl::Seconds(12)));
}

TEST(AdmissionWindowTest, AllTogetherHaveALimit) {
  AdmissionWindow window(kFew);
  for (const char* origin : {"a", "b", "c"}) EXPECT_TRUE(window.Admit(origin, absl::Seconds(10)));
  EXPECT_FALSE(window.Admit("d", absl::Seconds(10)));
}

TEST(AdmissionWindowTest, WhatIsOlderThanTheWindowDoesNotCount) {
  AdmissionWindow window(kFew);
  EXPECT_TRUE(window.Admit("a", absl::Seconds(10)));
  EXPECT_TRUE(window.Admit("a", absl::Seconds(12)));
  EXPECT_FALSE(window.Admit("a", absl::Seconds(15) - absl::Nanoseconds(1)));
  EXPECT_TRUE(window.Admit("a", absl::Seconds(15)));
  EXPECT_FALSE(window.Admit("a", absl::Seconds(16)));
}

}  // namespace
}  // namespace flyball::front
