#include "base/expiring_cache.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace flyball {
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

TEST(ExpiringCacheTest, ZeroEntriesKeepNothing) {
  ExpiringCache<int> cache(0, 100);
  cache.Put("a", 1, 1, At(0), At(10));
  EXPECT_EQ(cache.Get("a", At(0)), std::nullopt);
}

TEST(ExpiringCacheTest, StripesTogetherNeverExceedTheBytes) {
  constexpr size_t kLimit = 1 << 20;
  ExpiringCache<int, 4> cache(100'000, kLimit);
  for (int i = 0; i < 1000; ++i) {
    cache.Put(absl::StrCat("key-", i), i, 10'000, At(0), At(10));
    ASSERT_LE(cache.bytes(), kLimit);
  }
  cache.Put("huge", 0, kLimit, At(0), At(10));
  EXPECT_EQ(cache.Get("huge", At(0)), std::nullopt);
  EXPECT_EQ(cache.Get("key-999", At(0)), 999);
}

TEST(ExpiringCacheTest, WhatIsOverGoesWithTheNextPutOfEachStripe) {
  ExpiringCache<int, 4> cache(10'000, 1 << 20);
  for (int i = 0; i < 100; ++i) {
    cache.Put(absl::StrCat("old-", i), i, 1000, At(0), At(1));
    cache.Put(absl::StrCat("good-", i), i, 100, At(0), At(10));
  }
  for (int i = 0; i < 100; ++i) cache.Put(absl::StrCat("new-", i), i, 1, At(2), At(10));
  EXPECT_EQ(cache.size(), 200u);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(cache.Get(absl::StrCat("old-", i), At(2)), std::nullopt);
    EXPECT_EQ(cache.Get(absl::StrCat("good-", i), At(2)), i);
  }
}

}  // namespace
}  // namespace flyball
