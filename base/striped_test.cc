#include "base/striped.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace flyball {
namespace {

TEST(StripedTest, AHashAlwaysFindsItsCopy) {
  Striped<int, 4> copies;
  for (size_t i = 0; i < 8; ++i) *copies.Lock(i << 32) += static_cast<int>(i);
  EXPECT_EQ(*copies.Lock(size_t{1} << 32), 1 + 5);
  EXPECT_EQ(*copies.Lock((size_t{1} << 32) + 12345), 1 + 5);  // the low bits do not count
  std::vector<int> all;
  copies.ForEach([&all](int copy) { all.push_back(copy); });
  EXPECT_EQ(all, (std::vector<int>{0 + 4, 1 + 5, 2 + 6, 3 + 7}));
}

TEST(StripedTest, OneThreadAtATimeHasACopy) {
  Striped<int, 2> copies;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&copies] {
      for (size_t round = 0; round < 1000; ++round) ++*copies.Lock(round << 32);
    });
  }
  for (std::thread& thread : threads) thread.join();
  int sum = 0;
  copies.ForEach([&sum](int copy) { sum += copy; });
  EXPECT_EQ(sum, 4000);
}

}  // namespace
}  // namespace flyball
