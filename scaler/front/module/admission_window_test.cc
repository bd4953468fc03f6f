#include "scaler/front/module/admission_window.h"

#include <gtest/gtest.h>

namespace flyball::front {
namespace {

constexpr AdmissionWindow::Limits kFew = {.window = absl::Seconds(5), .most = 3, .most_of_one = 2};

TEST(AdmissionWindowTest, OneOriginHasItsShare) {
  AdmissionWindow window(kFew);
  EXPECT_TRUE(window.Admit(1, absl::Seconds(10)));
  EXPECT_TRUE(window.Admit(1, absl::Seconds(11)));
  EXPECT_FALSE(window.Admit(1, absl::Seconds(12)));
  EXPECT_TRUE(window.Admit(2, absl::Seconds(12)));
}

TEST(AdmissionWindowTest, AllTogetherHaveALimit) {
  AdmissionWindow window(kFew);
  for (const uint64_t origin : {1, 2, 3}) EXPECT_TRUE(window.Admit(origin, absl::Seconds(10)));
  EXPECT_FALSE(window.Admit(4, absl::Seconds(10)));
}

TEST(AdmissionWindowTest, WhatIsOlderThanTheWindowDoesNotCount) {
  AdmissionWindow window(kFew);
  EXPECT_TRUE(window.Admit(1, absl::Seconds(10)));
  EXPECT_TRUE(window.Admit(1, absl::Seconds(12)));
  EXPECT_FALSE(window.Admit(1, absl::Seconds(15) - absl::Nanoseconds(1)));
  EXPECT_TRUE(window.Admit(1, absl::Seconds(15)));
  EXPECT_FALSE(window.Admit(1, absl::Seconds(16)));
}

}  // namespace
}  // namespace flyball::front
