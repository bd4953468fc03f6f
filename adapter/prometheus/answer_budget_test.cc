#include "adapter/prometheus/answer_budget.h"

#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace flyball::adapter::prometheus {
namespace {

constexpr size_t kMegabyte = 1 << 20;

class AnswerBudgetTest : public testing::Test {
 protected:
  std::unique_ptr<AnswerBudget::Share> NewShare() {
    return std::make_unique<AnswerBudget::Share>(budget_, absl::Seconds(10));
  }

  SimulatedClock clock_{absl::FromUnixSeconds(1700000000)};
  AnswerBudget budget_{4 * kMegabyte, clock_};
};

TEST_F(AnswerBudgetTest, OneAloneMayBeLongerThanTheLimit) {
  for (int round = 0; round < 2; ++round) {
    const auto share = NewShare();
    for (size_t bytes = 1000; bytes < 40 * kMegabyte; bytes *= 2) EXPECT_TRUE(share->GrowTo(bytes));
  }
}

TEST_F(AnswerBudgetTest, ASecondLongOneWaitsAndUsualOnesGoOn) {
  auto first = NewShare();
  const auto second = NewShare();
  const auto third = NewShare();
  ASSERT_TRUE(first->GrowTo(8 * kMegabyte));
  ASSERT_TRUE(second->GrowTo(kMegabyte)) << "there is room beside a long one";
  bool second_grew = false;
  std::thread grows([&] { second_grew = second->GrowTo(3 * kMegabyte); });
  clock_.AwaitWaits(1);
  EXPECT_TRUE(third->GrowTo(kMegabyte));
  first.reset();
  grows.join();
  EXPECT_TRUE(second_grew);
}

TEST_F(AnswerBudgetTest, WithoutRoomOneGoesOnAndTheOthersWait) {
  std::vector<std::unique_ptr<AnswerBudget::Share>> shares;
  for (int i = 0; i < 4; ++i) {
    shares.push_back(NewShare());
    ASSERT_TRUE(shares.back()->GrowTo(kMegabyte - (64 << 10)));
  }
  ASSERT_TRUE(shares[0]->GrowTo(kMegabyte + kMegabyte / 2)) << "one of them";
  bool grew = false;
  std::thread grows([&] { grew = shares[1]->GrowTo(kMegabyte + kMegabyte / 2); });
  clock_.AwaitWaits(1);
  const auto short_one = NewShare();
  EXPECT_TRUE(short_one->GrowTo(AnswerBudget::kFreeBytes)) << "what is short never waits";
  shares[2].reset();
  grows.join();
  EXPECT_TRUE(grew);
}

TEST_F(AnswerBudgetTest, WhoeverWaitsGivesUpAtItsDeadline) {
  const auto first = NewShare();
  const auto second = NewShare();
  ASSERT_TRUE(first->GrowTo(8 * kMegabyte));
  bool grew = true;
  std::thread grows([&] { grew = second->GrowTo(3 * kMegabyte); });
  clock_.AwaitWaits(1);
  clock_.Advance(absl::Seconds(11));
  grows.join();
  EXPECT_FALSE(grew);
  EXPECT_TRUE(first->GrowTo(9 * kMegabyte)) << "it goes on";
}

}  // namespace
}  // namespace flyball::adapter::prometheus
