#include "kube/client/request_budget.h"

#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace flyball::kube {
namespace {

class RequestBudgetTest : public testing::Test {
 protected:
  MonotonicTime Now() const { return clock_.MonotonicNow(); }

  // How many there are now.
  int Drain(RequestBudget& budget) const {
    int taken = 0;
    while (budget.Take(Priority::kStatusWrite, Now())) ++taken;
    return taken;
  }

  SimulatedClock clock_{absl::UnixEpoch()};
};

TEST_F(RequestBudgetTest, BeginsFullAndFillsAtItsRate) {
  RequestBudget budget(clock_, 10, 5);
  EXPECT_EQ(Drain(budget), 5);
  // 10 a second: one each 100 ms.
  clock_.Advance(absl::Milliseconds(99));
  EXPECT_EQ(Drain(budget), 0);
  clock_.Advance(absl::Milliseconds(1));
  EXPECT_EQ(Drain(budget), 1);
  for (int i = 0; i < 1000; ++i) {
    clock_.Advance(absl::Milliseconds(100));
    ASSERT_EQ(Drain(budget), 1) << i;
  }
  clock_.Advance(absl::Hours(1));
  EXPECT_EQ(Drain(budget), 5);
}

TEST_F(RequestBudgetTest, FractionsAreKept) {
  RequestBudget budget(clock_, 0.5, 1);
  EXPECT_EQ(Drain(budget), 1);
  for (int i = 0; i < 3; ++i) {
    clock_.Advance(absl::Milliseconds(500));
    ASSERT_EQ(Drain(budget), 0) << i;
  }
  clock_.Advance(absl::Milliseconds(500));
  EXPECT_EQ(Drain(budget), 1);
}

TEST_F(RequestBudgetTest, NoRateIsNoLimit) {
  RequestBudget budget(clock_, 0, 0);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(budget.Take(Priority::kStatusWrite, Now()));
}

TEST_F(RequestBudgetTest, BurstIsAtLeastOne) {
  RequestBudget budget(clock_, 1, -3);
  EXPECT_EQ(Drain(budget), 1);
}

TEST_F(RequestBudgetTest, DeadlineThatIsOverStillTakesWhatIsThere) {
  RequestBudget budget(clock_, 1, 1);
  EXPECT_TRUE(budget.Take(Priority::kStatusWrite, Now()));
  EXPECT_FALSE(budget.Take(Priority::kStatusWrite, Now()));
}

TEST_F(RequestBudgetTest, WaitingEndsAtTheDeadline) {
  RequestBudget budget(clock_, 0.001, 1);
  ASSERT_TRUE(budget.Take(Priority::kStatusWrite, Now()));
  std::thread waiting(
      [&] { EXPECT_FALSE(budget.Take(Priority::kScaleWrite, Now() + absl::Seconds(5))); });
  while (budget.waiting() < 1) std::this_thread::yield();
  clock_.Advance(absl::Seconds(5));
  waiting.join();
}

TEST_F(RequestBudgetTest, UrgentOnesAreServedFirstButForEveryFourth) {
  RequestBudget budget(clock_, 1, 1);
  ASSERT_TRUE(budget.Take(Priority::kStatusWrite, Now()));
  std::mutex mutex;
  std::string order;
  std::vector<std::thread> threads;
  const auto wait = [&](Priority priority, char name) {
    threads.emplace_back([&, priority, name] {
      EXPECT_TRUE(budget.Take(priority, absl::InfiniteDuration()));
      const std::lock_guard<std::mutex> lock(mutex);
      order.push_back(name);
    });
  };
  const auto served = [&](size_t count) {
    const std::lock_guard<std::mutex> lock(mutex);
    return order.size() >= count;
  };
  const std::string names = "stvwxyz";
  for (size_t i = 0; i < names.size(); ++i) {
    wait(i < 2 ? Priority::kStatusWrite : Priority::kScaleWrite, names[i]);
    while (budget.waiting() < i + 1) std::this_thread::yield();
  }
  for (size_t count = 1; count <= names.size(); ++count) {
    clock_.Advance(absl::Seconds(1));
    while (!served(count)) std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(order, "vwsxyzt");  // one token of the first four was taken before
}

TEST_F(RequestBudgetTest, NobodyIsOvertakenByTrying) {
  RequestBudget budget(clock_, 1, 1);
  ASSERT_TRUE(budget.Take(Priority::kStatusWrite, Now()));
  std::thread waiting(
      [&] { EXPECT_FALSE(budget.Take(Priority::kStatusWrite, absl::InfiniteDuration())); });
  while (budget.waiting() < 1) std::this_thread::yield();
  EXPECT_FALSE(budget.Take(Priority::kStatusWrite, Now()));
  budget.Shutdown();
  waiting.join();
}

TEST_F(RequestBudgetTest, ShutdownRefusesAll) {
  RequestBudget budget(clock_, 1, 5);
  budget.Shutdown();
  EXPECT_FALSE(budget.Take(Priority::kScaleWrite, absl::InfiniteDuration()));
  EXPECT_FALSE(budget.Take(Priority::kScaleWrite, Now()));
}

}  // namespace
}  // namespace flyball::kube
