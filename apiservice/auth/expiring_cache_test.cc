#include "apiservice/auth/expiring_cache.h"

#include <gtest/gtest.h>

namespace flyball::apiservice {
namespace {

MonotonicTime At(int seconds) { return absl::Seconds(seconds); }

TEST(ExpiringCacheTest, EntriesEndAtTheirTime) {
  ExpiringCache<int> cache(2);
  cache.Put("a", 1, At(10));
  EXPECT_EQ(cache.Get("a", At(9)), 1);
  EXPECT_EQ(cache.Get("a", At(10)), std::nullopt);
  EXPECT_EQ(cache.size(), 0u);
}

TEST(ExpiringCacheTest, LeastRecentlyUsedGoesFirst) {
  ExpiringCache<int> cache(2);
  cache.Put("a", 1, At(10));
  cache.Put("b", 2, At(10));
  EXPECT_EQ(cache.Get("a", At(1)), 1);
  cache.Put("c", 3, At(10));
  EXPECT_EQ(cache.Get("b", At(1)), std::nullopt);
  EXPECT_EQ(cache.Get("a", At(1)), 1);
  EXPECT_EQ(cache.Get("c", At(1)), 3);
}

}  // namespace
}  // namespace flyball::apiservice
