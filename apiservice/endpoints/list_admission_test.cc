#include "apiservice/endpoints/list_admission.h"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace flyball::apiservice {
namespace {

constexpr size_t kAll = 1 << 20;

class ListAdmissionTest : public testing::Test {
 protected:
  ListAdmission Make(size_t repeated_bytes = 0) {
    return ListAdmission({.max_bytes = kAll,
                          .lists = lists_,
                          .answers = answers_,
                          .deadline = clock_.MonotonicNow() + absl::Seconds(5)},
                         style_, repeated_bytes);
  }

  SimulatedClock clock_{absl::UnixEpoch()};
  http::Room lists_{{.all = kAll, .free = 64 << 10, .max_waiting = kAll / 4}, clock_};
  http::Room answers_{{.all = kAll, .free = 64 << 10, .max_waiting = kAll / 4}, clock_};
  Style style_;
};

TEST_F(ListAdmissionTest, AProviderAsksOnceForTheListAndItsAnswer) {
  ListAdmission first = Make();
  ASSERT_TRUE(first.Admit()({.items = 2'000}).ok());
  EXPECT_FALSE(first.Refusal(2'000 * 256).has_value()) << "there is room already";
  EXPECT_NE(first.held(), nullptr);
  EXPECT_TRUE(Make().Admit()({.items = 100}).ok()) << "what is short needs no room";

  ListAdmission second = Make();
  absl::Status waited;
  std::thread waiting([&] { waited = second.Admit()({.items = 100, .text_bytes = 100'000}); });
  clock_.AwaitWaits(1);
  clock_.Advance(absl::Seconds(5));
  waiting.join();
  EXPECT_TRUE(absl::IsResourceExhausted(waited)) << waited;
  ASSERT_TRUE(second.refused().has_value());
  EXPECT_EQ(second.refused()->status, 504);
}

TEST_F(ListAdmissionTest, ASourceThatIsSlowKeepsNoOthersFromTheirAnswers) {
  ListAdmission slow = Make();
  ASSERT_TRUE(slow.Admit()({.items = 4'000, .to_ask = true}).ok());
  EXPECT_FALSE(Make().Refusal(kAll / 2).has_value());
  ListAdmission second = Make();
  std::thread waiting([&] {
    EXPECT_FALSE(second.Admit()({.items = 4'000, .to_ask = true}).ok());
    EXPECT_EQ(second.refused()->status, 504);
  });
  clock_.AwaitWaits(1);
  clock_.Advance(absl::Seconds(5));
  waiting.join();
  EXPECT_FALSE(slow.Refusal(kAll / 2).has_value());
}

TEST_F(ListAdmissionTest, WhatCountsAmongListsIsNoneOfWhatThoseWhoWaitHold) {
  ListAdmission sent = Make();
  ASSERT_FALSE(sent.Refusal(kAll).has_value());
  ListAdmission lists[] = {Make(), Make(), Make()};
  std::vector<std::thread> waiting;
  for (ListAdmission& list : lists) {
    ASSERT_TRUE(list.Admit()({.items = 100, .to_ask = true}).ok());
    waiting.emplace_back([&list] { EXPECT_EQ(list.Refusal(kAll / 2)->status, 504); });
  }
  clock_.AwaitWaits(3);
  clock_.Advance(absl::Seconds(5));
  for (std::thread& one : waiting) one.join();
}

TEST_F(ListAdmissionTest, WhoWouldHoldTooMuchWhileItWaitsIsToldToAskAgain) {
  ListAdmission first = Make(/*repeated_bytes=*/100'000);
  ASSERT_TRUE(first.Admit()({.items = 10}).ok());
  ListAdmission second = Make();
  std::thread waiting([&] { (void)second.Admit()({.items = 2'000, .held_bytes = kAll / 4}); });
  clock_.AwaitWaits(1);
  ListAdmission third = Make();
  EXPECT_FALSE(third.Admit()({.items = 2'000, .held_bytes = 1'000}).ok());
  EXPECT_EQ(third.refused()->status, 429);
  clock_.Advance(absl::Seconds(5));
  waiting.join();
}

// It would take as much memory as its answer.
TEST_F(ListAdmissionTest, AListIsNotMadeForAnAnswerThatIsTooLong) {
  ListAdmission list = Make(/*repeated_bytes=*/1'000);
  EXPECT_TRUE(list.Admit()({.items = 1'000, .to_ask = true}).ok()) << "some may have no value";
  EXPECT_TRUE(absl::IsResourceExhausted(list.Admit()({.items = 1'000})));
  ASSERT_TRUE(list.refused().has_value());
  EXPECT_EQ(list.refused()->status, 413);
}

TEST_F(ListAdmissionTest, AListThatNobodyAskedAboutTakesItsRoomBeforeItsAnswerIsMade) {
  ListAdmission first = Make();
  EXPECT_FALSE(first.Refusal(kAll).has_value());
  ListAdmission second = Make();
  std::thread waiting([&] { EXPECT_EQ(second.Refusal(kAll)->status, 504); });
  clock_.AwaitWaits(1);
  clock_.Advance(absl::Seconds(5));
  waiting.join();
  EXPECT_EQ(Make().Refusal(kAll + 1)->status, 413);
}

}  // namespace
}  // namespace flyball::apiservice
