#include "apiservice/auth/expiring_cache.h"

#include <gtest/gtest.h>

namespace flyball::apiservice {
namespace {

MonotonicTime At(int seconds) { return absl::Seconds(seconds); }

TEST(ExpiringCacheTest, EntriesEndAtTheirTime) {
  ExpiringCache<int> cache(2, 100);
  cache.Put("a", 1, 1, At(0), At(10));
  EXPECT_EQ(cache.Get("a", At(9)), 1);
  EXPECT_EQ(cache.Get("a", At(10)), std::nullopt);
  EXPECT_EQ(cache.size(), 0u);
}

TEST(ExpiringCacheTest, LeastRecentlyUsedGoesFirst) {
  ExpiringCache<int> cache(2, 100);
  cache.Put("a", 1, 1, At(0), At(10));
  cache.Put("b", 2, 1, At(0), At(10));
  EXPECT_EQ(cache.Get("a", At(1)), 1);
  cache.Put("c", 3, 1, At(1), At(10));
  EXPECT_EQ(cache.Get("b", At(1)), std::nullopt);
  EXPECT_EQ(cache.Get("a", At(1)), 1);
  EXPECT_EQ(cache.Get("c", At(1)), 3);
}

TEST(ExpiringCacheTest, BytesAreLimitedAsWell) {
  ExpiringCache<int> cache(100, 50);
  for (char key = 'a'; key <= 'z'; ++key) cache.Put(std::string(1, key), key, 9, At(0), At(10));
  EXPECT_EQ(cache.size(), 5u);
  EXPECT_EQ(cache.Get("z", At(1)), 'z');
  cache.Put("too much", 0, 50, At(1), At(10));
  EXPECT_EQ(cache.Get("too much", At(1)), std::nullopt);
  EXPECT_EQ(cache.Get("z", At(1)), 'z');
  cache.Put("z", 1, 40, At(1), At(10));
  EXPECT_EQ(cache.Get("z", At(1)), 1);
}

TEST(ExpiringCacheTest, WhatNobodyAsksForAgainGoesToo) {
  ExpiringCache<int> cache(1000, 100'000);
  for (int i = 0; i < 500; ++i) cache.Put(std::to_string(i), i, 1, At(0), At(10));
  EXPECT_EQ(cache.size(), 500u);
  cache.Put("later", 1, 1, At(11), At(20));
  EXPECT_EQ(cache.size(), 1u);
}

}  // namespace
}  // namespace flyball::apiservice
