#include "apiservice/endpoints/response_cache.h"

#include <string>

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace flyball::apiservice {
namespace {

constexpr MonotonicTime kNow = absl::Seconds(100);

std::shared_ptr<const CachedResponse> Body(size_t bytes,
                                           MonotonicTime fresh_until = absl::InfiniteDuration()) {
  auto response = std::make_shared<CachedResponse>();
  response->freshness.fresh_until = fresh_until;
  response->body = std::make_shared<const std::string>(bytes, 'x');
  return response;
}

TEST(ResponseCacheTest, GivesBackWhatWasPut) {
  ResponseCache cache(64, 1 << 20);
  cache.Put("a", Body(1), kNow);
  cache.Put("a", Body(2), kNow);
  ASSERT_NE(cache.Get("a"), nullptr);
  EXPECT_EQ(cache.Get("a")->body->size(), 2u);
  EXPECT_EQ(cache.Get("b"), nullptr);
}

TEST(ResponseCacheTest, ZeroEntriesKeepNothing) {
  ResponseCache cache(0, 1 << 20);
  cache.Put("a", Body(1), kNow);
  EXPECT_EQ(cache.Get("a"), nullptr);
}

TEST(ResponseCacheTest, NeverExceedsItsBytes) {
  constexpr size_t kLimit = 1 << 20;
  ResponseCache cache(100'000, kLimit);
  for (int i = 0; i < 1000; ++i) {
    cache.Put(absl::StrCat("key-", i), Body(10'000), kNow);
    ASSERT_LE(cache.bytes(), kLimit);
  }
  cache.Put("huge", Body(kLimit), kNow);
  EXPECT_EQ(cache.Get("huge"), nullptr);
  EXPECT_NE(cache.Get("key-999"), nullptr);
}

TEST(ResponseCacheTest, WhatIsStaleGoesWithTheNextPut) {
  ResponseCache cache(10'000, 1 << 20);
  const MonotonicTime later = kNow + absl::Seconds(2);
  for (int i = 0; i < 100; ++i) {
    cache.Put(absl::StrCat("old-", i), Body(1000, kNow + absl::Seconds(1)), kNow);
    cache.Put(absl::StrCat("good-", i), Body(100), kNow);
  }
  for (int i = 0; i < 100; ++i) cache.Put(absl::StrCat("new-", i), Body(1), later);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(cache.Get(absl::StrCat("old-", i)), nullptr);
    EXPECT_NE(cache.Get(absl::StrCat("good-", i)), nullptr);
  }
}

}  // namespace
}  // namespace flyball::apiservice
