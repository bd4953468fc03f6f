#include "base/byte_budget.h"

#include <gtest/gtest.h>

namespace flyball {
namespace {

TEST(NamespaceBudgetsTest, OneNamespaceLeavesRoomForOthers) {
  NamespaceBudgets budgets(1000);
  const auto first = budgets.Of("a");
  EXPECT_EQ(budgets.Of("a"), first);
  EXPECT_TRUE(first->Take(800));
  EXPECT_FALSE(budgets.Of("a")->Take(1));
  {
    const auto second = budgets.Of("b");
    EXPECT_TRUE(second->Take(160));
    EXPECT_FALSE(second->Take(1));
    second->Give(160);
  }
  EXPECT_TRUE(budgets.Of("c")->Take(160)) << "what was given back is there for all";
}

TEST(ByteShareTest, TakesWhatIsNotFreeAndGivesItBack) {
  const auto budget = std::make_shared<ByteBudget>(10'000);
  {
    ByteShare share(budget, 100);
    EXPECT_TRUE(share.Grow(100));
    EXPECT_EQ(budget->taken(), 0u);
    EXPECT_TRUE(share.GrowTo(5000));
    EXPECT_EQ(budget->taken(), 8192u);
    EXPECT_FALSE(share.GrowTo(9000));
    EXPECT_EQ(share.used(), 5000u);
    EXPECT_TRUE(share.GrowTo(8292));
    ByteShare moved = std::move(share);
    EXPECT_EQ(budget->taken(), 8192u);
    moved.Shrink(8000);
    EXPECT_EQ(budget->taken(), 4096u);
    moved.Shrink(200);
    EXPECT_EQ(budget->taken(), 0u);
    EXPECT_TRUE(moved.Grow(4000));
  }
  EXPECT_EQ(budget->taken(), 0u);
  EXPECT_TRUE(ByteShare().Grow(1 << 30)) << "without a budget there is no limit";
}

}  // namespace
}  // namespace flyball
