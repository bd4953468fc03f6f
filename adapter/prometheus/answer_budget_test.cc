#include "adapter/prometheus/answer_budget.h"

#include <memory>
#include <thread>

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

TEST_F(AnswerBudgetTest, OthersWaitForTheOneBeyondTheLimit) {
  auto first = NewShare();
  auto second = NewShare();
  const auto third = NewShare();
  ASSERT_TRUE(first->GrowTo(kMegabyte));
  ASSERT_TRUE(second->GrowTo(2 * kMegabyte));
  ASSERT_TRUE(first->GrowTo(8 * kMegabyte)) << "no other is beyond the limit";
  bool second_grew = false;
  std::thread grows([&] { second_grew = second->GrowTo(3 * kMegabyte); });
  clock_.AwaitWaits(1);
  EXPECT_TRUE(third->GrowTo(AnswerBudget::kFreeBytes)) << "what is short never waits";
  first.reset();
  grows.join();
  EXPECT_TRUE(second_grew);
  EXPECT_TRUE(third->GrowTo(5 * kMegabyte)) << "it is beyond the limit now";
}

TEST_F(AnswerBudgetTest, WhoeverWaitsGivesUpAtItsDeadline) {
  const auto first = NewShare();
  const auto second = NewShare();
  ASSERT_TRUE(first->GrowTo(8 * kMegabyte));
  bool grew = true;
  std::thread grows([&] { grew = second->GrowTo(kMegabyte); });
  clock_.AwaitWaits(1);
  clock_.Advance(absl::Seconds(11));
  grows.join();
  EXPECT_FALSE(grew);
  EXPECT_TRUE(first->GrowTo(9 * kMegabyte)) << "it goes on";
}

}  // namespace
}  // namespace flyball::adapter::prometheus
