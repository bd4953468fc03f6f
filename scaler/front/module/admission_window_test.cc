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

// Of four that connect all the time, however it began, and a fifth that does so now and then.
TEST(AdmissionWindowTest, AFewThatConnectAllTheTimeLeaveRoomForAnother) {
  AdmissionWindow window({});
  MonotonicTime now = absl::Seconds(10);
  int refused = 0;
  for (int turn = 0; turn < 6000; ++turn, now += absl::Milliseconds(5)) {
    for (const uint64_t origin : {1, 2, 3, 4}) window.Admit(origin, now);
    if (turn % 400 == 399 && !window.Admit(5, now)) ++refused;
  }
  EXPECT_EQ(refused, 0);
}

TEST(AdmissionWindowTest, WhoHasShownItsCertificateDoesNotCount) {
  AdmissionWindow window({});
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(window.Admit(1, absl::Seconds(1))) << i;
    window.Shown();
  }
  int admitted = 0;
  for (uint64_t origin = 0; origin < 300; ++origin) {
    admitted += window.Admit(origin, absl::Seconds(1));
  }
  EXPECT_EQ(admitted, 32);
  window.Shown();
  EXPECT_TRUE(window.Admit(300, absl::Seconds(1)));
  EXPECT_FALSE(window.Admit(301, absl::Seconds(1)));
}

TEST(AdmissionWindowTest, ManyGetAll) {
  AdmissionWindow window({});
  int admitted = 0;
  for (uint64_t origin = 0; origin < 300; ++origin) {
    admitted += window.Admit(origin, absl::Seconds(1));
  }
  EXPECT_EQ(admitted, 32);
}

}  // namespace
}  // namespace flyball::front
